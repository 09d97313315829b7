import type { IndexedDoc } from './store.ts';
import { namesIn, readText } from './terms.ts';
import { TRAIT } from './traits.ts';

/** What the index takes of a row of memory_turns. */
export interface TurnText {
  id: number;
  scope: number;
  session_id: string;
  role: 'user' | 'assistant';
  speaker: string;
  text: string;
  /** ISO time. */
  said_at: string;
}

/** What the index takes of a row of memory_units. */
export interface UnitText {
  id: number;
  scope: number;
  content: string;
  /** ISO time. */
  observed_at: string;
}

const DAY_MS = 86_400_000;

export function docOfTurn(row: TurnText): IndexedDoc {
  const { terms, traits } = readText(row.text);
  const names = row.speaker === row.role ? [] : namesIn(row.speaker).map((name) => `@${name}`);
  return {
    ref: { type: 'turn', id: row.id },
    session: hash(row.session_id),
    day: dayOf(row.said_at),
    traits: traits | (row.role === 'assistant' ? TRAIT.assistant : 0),
    terms: [...terms, ...names],
  };
}

export function docOfUnit(row: UnitText): IndexedDoc {
  const { terms, traits } = readText(row.content);
  return {
    ref: { type: 'unit', id: row.id },
    session: 0,
    day: dayOf(row.observed_at),
    traits: traits | TRAIT.unit,
    terms,
  };
}

function dayOf(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? 0 : Math.min(0xffff, Math.max(0, Math.floor(ms / DAY_MS)));
}

/** FNV-1a; never 0. Two conversations with the same number are harmless: they would count as one. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0 || 1;
}
