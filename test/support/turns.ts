import type { TurnDetail } from '../../src/shared/model.ts';

/** A recorded main turn with harmless defaults. */
export function makeTurn(fields: Partial<TurnDetail> = {}): TurnDetail {
  const seq = fields.seq ?? 1;
  return {
    id: `turn-${seq}`,
    sessionId: 'session-1',
    seq,
    kind: 'main',
    agent: 'test',
    dialect: 'openai',
    requestedModel: 'm',
    model: 'm',
    upstream: 'u',
    status: 'answered',
    httpStatus: 200,
    startedAt: '2026-01-06T12:00:00.000Z',
    firstByteMs: 1,
    durationMs: 2,
    userText: '',
    injection: { items: [], leftOut: [], tokens: 0, skipped: null },
    usage: null,
    requestBody: null,
    sentBody: null,
    replyBody: null,
    replyText: 'an answer',
    error: null,
    masked: false,
    ...fields,
  };
}
