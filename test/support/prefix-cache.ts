import { createHash } from 'node:crypto';
import type { UpstreamRequest } from './upstream.ts';

/** Usage of one request, in characters: as many as stand in its prompt, and what of them was there before. */
interface CacheUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

interface Block {
  text: string;
  /** The client asks for an entry that ends here. */
  marked: boolean;
}

/** OpenAI gives back whole steps only. */
const STEP = 16;
/** Anthropic looks so many blocks back from a mark for an entry that was written before. */
const LOOK_BACK = 20;

/**
 * A provider's prompt cache. OpenAI's gives back the longest start that any earlier prompt had; Anthropic's only what
 * ends where an earlier request had a mark, and is found from the marks of this one.
 */
export class PrefixCache {
  readonly #prompts: string[] = [];
  readonly #entries = new Set<string>();

  usageOf(request: UpstreamRequest): CacheUsage {
    const blocks = blocksOf(request);
    const prompt = blocks.map(({ text }) => text).join('');
    const usage = request.kind === 'anthropic' ? this.#marked(blocks) : this.#longest(prompt);
    return { input: prompt.length, output: 5, ...usage };
  }

  #longest(prompt: string): { cacheRead: number; cacheWrite: number } {
    const common = this.#prompts.map((other) => {
      let at = 0;
      while (at < prompt.length && prompt[at] === other[at]) at += 1;
      return at;
    });
    this.#prompts.push(prompt);
    return { cacheRead: Math.floor(Math.max(0, ...common) / STEP) * STEP, cacheWrite: 0 };
  }

  #marked(blocks: readonly Block[]): { cacheRead: number; cacheWrite: number } {
    const ends: { key: string; length: number }[] = [];
    const hash = createHash('sha256');
    let length = 0;
    for (const { text } of blocks) {
      hash.update(text);
      length += text.length;
      ends.push({ key: hash.copy().digest('hex'), length });
    }
    const marks = blocks.flatMap(({ marked }, at) => (marked ? [at] : []));
    const found = marks.flatMap((mark) =>
      ends.slice(Math.max(0, mark - LOOK_BACK), mark + 1).filter(({ key }) => this.#entries.has(key)),
    );
    const cacheRead = Math.max(0, ...found.map((end) => end.length));
    const written = Math.max(0, ...marks.map((mark) => ends[mark]?.length ?? 0));
    for (const mark of marks) this.#entries.add(ends[mark]?.key ?? '');
    return { cacheRead, cacheWrite: Math.max(0, written - cacheRead) };
  }
}

function blocksOf({ json }: UpstreamRequest): Block[] {
  const parts: unknown[] = [...(json.tools ?? []), ...asList(json.system), ...asList(json.instructions)];
  for (const message of json.messages ?? asList(json.input)) {
    const { content, ...rest } = message as { content?: unknown };
    parts.push(...asList(content).map((part) => ({ ...rest, part })), { rest });
  }
  return parts.map((part) => ({
    text: JSON.stringify(part, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
    marked: JSON.stringify(part).includes('"cache_control"'),
  }));
}

/** A bare text is one block of text. */
function asList(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  return [{ type: 'text', text: value }];
}
