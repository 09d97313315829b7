import { createHash } from 'node:crypto';

/** An embeddings service: what it refuses, and vectors in which words of one idea stand near each other. */

type Json = Record<string, unknown>;

const FIELDS = new Set(['model', 'input', 'dimensions', 'encoding_format', 'user']);
const MOST_INPUTS = 2048;
const MOST_TOKENS = 8192;
const MOST_TOKENS_IN_ALL = 300_000;

/** Words of one idea, in whatever language; they share no letters. */
const IDEAS: readonly (readonly string[])[] = [
  ['database', 'databases', 'postgres', 'postgresql', 'mysql', 'datastore', '数据库', 'données'],
  ['email', 'mail', 'letter', 'correspondence', 'missive', '邮件'],
  ['slow', 'sluggish', 'performance', 'laggy', 'tuning', 'crawls'],
  ['flight', 'plane', 'airline', 'airport', 'aviation'],
  ['dog', 'puppy', 'canine', 'hound', 'beagle'],
  ['port', 'harbour', 'dock'],
];
const IDEA_OF = new Map(IDEAS.flatMap((words, idea) => words.map((word) => [word, `idea ${idea}`])));

/** What is wrong with a request; null when the service takes it. Source: OpenAI's reference of the endpoint. */
export function refuseEmbeddings(body: unknown): { message: string; param: string | null } | null {
  const refuse = (message: string, param: string | null = null) => ({ message, param });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse('the body must be an object');
  const { model, input, dimensions, encoding_format: form } = body as Json;
  for (const field of Object.keys(body))
    if (!FIELDS.has(field)) return refuse(`Unrecognized request argument supplied: ${field}`, field);
  if (typeof model !== 'string' || model === '') return refuse('you must provide a model parameter', 'model');
  const inputs = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > MOST_INPUTS)
    return refuse("'$.input' is invalid", 'input');
  let all = 0;
  for (const text of inputs) {
    if (typeof text !== 'string' || text.trim() === '') return refuse("'$.input' is invalid", 'input');
    const tokens = Math.ceil(text.length / 4);
    all += tokens;
    if (tokens > MOST_TOKENS)
      return refuse(
        `This model's maximum context length is ${MOST_TOKENS} tokens, however you requested ${tokens} tokens.`,
      );
  }
  if (all > MOST_TOKENS_IN_ALL)
    return refuse(`Requested ${all} tokens, max ${MOST_TOKENS_IN_ALL} tokens per request`);
  if (dimensions !== undefined) {
    if (!model.startsWith('text-embedding-3'))
      return refuse('This model does not support specifying dimensions.', 'dimensions');
    if (!Number.isInteger(dimensions) || Number(dimensions) < 1)
      return refuse('dimensions is invalid', 'dimensions');
  }
  if (form !== undefined && form !== 'float' && form !== 'base64')
    return refuse(`Invalid value for 'encoding_format': ${String(form)}`, 'encoding_format');
  return null;
}

/** The service's answer; `size` is that of the model. */
export function embeddingAnswer(body: Json, size = 64): Json {
  const inputs = typeof body.input === 'string' ? [body.input] : (body.input as string[]);
  const data = inputs.map((text, index) => {
    const vector = vectorOfText(text, Number(body.dimensions ?? size));
    const embedding =
      body.encoding_format === 'base64'
        ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
        : vector;
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return {
    object: 'list',
    data,
    model: body.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** Each idea, and each word of no idea, has a direction of its own; function words have little weight. */
function vectorOfText(text: string, size: number): number[] {
  const vector = new Array<number>(size).fill(0);
  for (const [word] of text.toLowerCase().matchAll(/\p{Script=Han}{2,3}|[\p{L}\p{N}]+/gu)) {
    const idea = IDEA_OF.get(word);
    const weight = idea ? 3 : word.length < 5 ? 0.2 : 0.6;
    const hash = createHash('sha256')
      .update(idea ?? word)
      .digest();
    for (let n = 0; n < 8; n += 1) {
      const at = hash.readUInt16LE(n * 3) % size;
      vector[at] = (vector[at] ?? 0) + ((hash[n * 3 + 2] ?? 0) % 2 === 0 ? weight : -weight);
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
