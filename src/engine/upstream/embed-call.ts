import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { unitVector, vectorOf } from '../platform/vectors.ts';
import { providerWords } from './chat-model.ts';
import type { UpstreamReply } from './exchange.ts';
import { type Asker, askOwn } from './own-call.ts';
import type { Route } from './route.ts';

/** Where texts are embedded. */
export interface EmbeddingTarget {
  route: Route;
  /** Size that is asked for; 0: the model's own. */
  dimensions: number;
}

/** The endpoint answered with something else than vectors. */
export class EmbeddingRefusal extends AppError {
  readonly httpStatus: number;
  readonly headers: UpstreamReply['headers'];

  constructor(message: string, { status, headers }: { status: number; headers: UpstreamReply['headers'] }) {
    super('UPSTREAM_REFUSED', message, {
      hint: status === 401 || status === 403 ? 'Check embeddings.api_key.' : undefined,
    });
    this.httpStatus = status;
    this.headers = headers;
  }
}

/** Waiting does not mend it: the key, the payment, the model, or a size that the model does not make. */
export function isFinal({ httpStatus: status, message }: EmbeddingRefusal): boolean {
  return [401, 402, 403, 404, 405].includes(status) || (status === 400 && /dimension/i.test(message));
}

const MOST_BYTES = 64 * 1024 * 1024;

/** As OpenAI documents it; other servers leave `index` out. */
const answerShape = z.object({
  data: z.array(z.object({ index: z.number().int().min(0).optional(), embedding: z.unknown() })),
});

/**
 * Vectors of texts, in their order, each of length 1; null for one that is none (NaN, zeros). The texts must not be
 * empty. Throws EmbeddingRefusal, AppError UPSTREAM_* when no answer came, CANCELLED when the day's cap is used up.
 * Source: https://platform.openai.com/docs/api-reference/embeddings/create
 */
export async function embedTexts(
  asker: Omit<Asker, 'purpose' | 'sessionId'>,
  { route, dimensions }: EmbeddingTarget,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<(Float32Array | null)[]> {
  const body = {
    model: route.model,
    input: texts,
    ...(dimensions > 0 ? { dimensions } : {}),
  };
  const answer = await askOwn(
    { ...asker, purpose: 'embeddings', sessionId: null },
    route,
    { path: '/embeddings', body, signal },
    MOST_BYTES,
  );
  const { status, text } = answer;
  if (status !== 200)
    throw new EmbeddingRefusal(`${route.host} answered ${status}: ${providerWords(text)}`, answer);
  const odd = (what: string) => new EmbeddingRefusal(`${route.host} answered ${what}.`, answer);
  const parsed = answerShape.safeParse(parse(text));
  if (!parsed.success) throw odd('without a list of embeddings');
  const { data } = parsed.data;
  if (data.length !== texts.length) throw odd(`with ${data.length} embeddings to ${texts.length} texts`);
  const vectors: (Float32Array | null)[] = texts.map(() => null);
  const taken = new Set<number>();
  let size = dimensions;
  for (const [place, { index = place, embedding }] of data.entries()) {
    if (index >= texts.length || taken.has(index)) throw odd(`with a wrong index ${index}`);
    taken.add(index);
    const numbers = numbersOf(embedding);
    if (numbers === null || numbers.length === 0) throw odd('with an embedding that is no list of numbers');
    if (size === 0) size = numbers.length;
    if (numbers.length !== size)
      throw odd(`with an embedding of ${numbers.length} numbers where ${size} are due`);
    vectors[index] = unitVector(numbers);
  }
  return vectors;
}

/** A list of numbers, or the same as base64 of 32-bit floats; null for anything else. */
function numbersOf(embedding: unknown): ArrayLike<number> | null {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    return bytes.length % 4 === 0 ? vectorOf(bytes) : null;
  }
  if (!Array.isArray(embedding)) return null;
  // A number that JSON has no word for comes as null.
  return embedding.map((value: unknown) => (typeof value === 'number' ? value : Number.NaN));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
