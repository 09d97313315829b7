import type { TurnRow } from '../../src/engine/memory/rows.ts';

/** Something that was said, as the store keeps it. */
export function said(over: Partial<TurnRow> = {}): TurnRow {
  const id = over.id ?? 1;
  return {
    id,
    key: `k${id}`,
    scope: 1,
    session_id: 's1',
    turn_id: `turn-${id}`,
    role: 'user',
    speaker: over.role ?? 'user',
    text: '',
    said_at: '2026-01-06T12:00:00.000Z',
    unread: 1,
    forgotten_at: null,
    ...over,
  };
}

/** A conversation: strings are the user's and the assistant's words in turn, numbered from 1. */
export function saidTurns(...words: string[]): TurnRow[] {
  return words.map((text, index) =>
    said({ id: index + 1, text, role: index % 2 === 0 ? 'user' : 'assistant' }),
  );
}
