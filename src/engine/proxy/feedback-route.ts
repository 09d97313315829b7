import type { Express } from 'express';
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { readRequestBody } from './body.ts';

/** Takes what a user says of a turn; throws NOT_FOUND when there is no such turn. */
export type TakeFeedback = (input: {
  turnId?: string | undefined;
  sessionId?: string | undefined;
  label: 'good' | 'bad' | null;
  text?: string | undefined;
}) => { turnId: string; sessionId: string };

const MAX_BYTES = 64 * 1024;
const WORDS: Readonly<Record<string, 'good' | 'bad' | null>> = {
  good: 'good',
  up: 'good',
  positive: 'good',
  like: 'good',
  bad: 'bad',
  down: 'bad',
  negative: 'bad',
  dislike: 'bad',
  none: null,
};

const id = z.string().min(1).max(200).optional();
const body = z.object({
  turn_id: id,
  session_id: id,
  label: z.string().max(20).optional(),
  /** Above nothing is good, below it bad. */
  score: z.number().optional(),
  text: z.string().max(20_000).optional(),
});

/**
 * `POST /v1/feedback`: `{turn_id | session_id, label: good | bad | none, text}`, where a session means its newest turn.
 * The turn's id stands in the answer's `x-metaclaw-turn`. Sending the same twice changes nothing.
 */
export function addFeedbackRoute(app: Express, take: TakeFeedback): void {
  app.post('/v1/feedback', async (request, response) => {
    const input = parse(await readRequestBody(request, MAX_BYTES));
    const label = labelOf(input);
    const { turn_id: turnId, session_id: sessionId, text } = input;
    if (turnId === undefined && sessionId === undefined)
      throw new AppError('BAD_INPUT', 'Name the turn (turn_id) or its session (session_id).', {
        field: 'turn_id',
      });
    const turn = take({ turnId, sessionId, label, text });
    response.json({
      object: 'feedback',
      turn_id: turn.turnId,
      session_id: turn.sessionId,
      label: label ?? 'none',
    });
  });
}

function parse(raw: Uint8Array): z.infer<typeof body> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(raw));
  } catch (error) {
    throw new AppError('BAD_INPUT', 'The body is not JSON.', { cause: error });
  }
  const parsed = body.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new AppError('BAD_INPUT', `${field}: ${issue?.message ?? 'bad input'}`, { field });
}

function labelOf({ label, score }: z.infer<typeof body>): 'good' | 'bad' | null {
  if (label !== undefined) {
    const known = Object.hasOwn(WORDS, label.toLowerCase()) ? WORDS[label.toLowerCase()] : undefined;
    if (known !== undefined) return known;
    throw new AppError('BAD_INPUT', `There is no label ${JSON.stringify(label)}.`, {
      hint: 'Say good, bad or none.',
      field: 'label',
    });
  }
  if (score !== undefined && score !== 0) return score > 0 ? 'good' : 'bad';
  throw new AppError('BAD_INPUT', 'Say what it was: label is good, bad or none.', { field: 'label' });
}
