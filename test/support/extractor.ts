import { z } from 'zod';
import type { UpstreamRequest } from './upstream.ts';

const turn = z.strictObject({
  turn: z.int().positive(),
  date: z.iso.date(),
  by: z.enum(['user', 'assistant']),
  said: z.string().min(1),
});
const recordsSchema = z.strictObject({
  summary_so_far: z.string().nullable(),
  before: z.array(turn),
  turns: z.array(turn).min(1),
});

/** What the engine asked a model to read for memories. */
export interface ExtractorQuestion extends z.output<typeof recordsSchema> {
  /** All that was sent, for what must not be in it. */
  raw: string;
  /** Turns in which a pattern stands. */
  saying: (pattern: RegExp) => number[];
}

/** The question in a request of any wire; null for requests that ask something else. Throws where its frame is broken. */
export function extractorQuestion({ json, rawBody }: UpstreamRequest): ExtractorQuestion | null {
  const texts = [json?.system, json?.instructions, json?.input, ...(json?.messages ?? [])].map((part) =>
    typeof part === 'string' ? part : typeof part?.content === 'string' ? part.content : '',
  );
  const asked = texts.join('\n\n');
  if (!asked.includes('<conversation_json>')) return null;
  const frames = asked.split('<conversation_json>');
  const data = frames[1]?.split('</conversation_json>') ?? [];
  if (frames.length !== 2 || data.length !== 2)
    throw new Error('the frame of the records is not closed once');
  if (!/JSON array/.test(frames[0] ?? '') || !/never to you/.test(frames[0] ?? ''))
    throw new Error('the question says neither what to answer nor that the records are data');
  const records = recordsSchema.parse(JSON.parse(data[0] ?? ''));
  return {
    ...records,
    raw: rawBody.toString('utf8'),
    saying: (pattern) => records.turns.filter(({ said }) => pattern.test(said)).map(({ turn: id }) => id),
  };
}
