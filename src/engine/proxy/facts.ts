import { createHash } from 'node:crypto';
import type { Dialect } from '../../shared/model.ts';
import { INTERNAL_MARK, isInternal, ownWords } from '../platform/user-text.ts';
import type { RequestFacts } from '../sessions/index.ts';
import { decodeHead, decodeValue, member, type Skim, type SkimMessage, skimBlocks } from './skim.ts';
import { IDENTITY_FIELDS, isSystemRole } from './splice.ts';

type Json = Record<string, unknown>;

/** Contents beyond this many bytes are looked through for pictures before they are decoded. */
const LARGE = 64 * 1024;
/** Characters that tell one text from another. */
const KNOWN_BY = 120;
const MEDIA = new Set(['image', 'image_url', 'document', 'file', 'input_audio', 'input_image', 'input_file']);
const TEXT_TYPES = new Set(['text', 'input_text', 'output_text']);

export interface FactsSource {
  dialect: Dialect;
  skim: Skim;
  headers: Readonly<Record<string, string | undefined>>;
  /** From the path or a header; null: look at the client's own marks. */
  agent: string | null;
  clientAddress: string;
  /** Session of the response that this request continues. */
  continues?: string | null;
}

/** `RequestFacts` over a skimmed body; each lazy fact is computed when it is first asked for. */
export class Facts implements RequestFacts {
  readonly dialect: Dialect;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly clientAddress: string;
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  readonly hasTools: boolean;
  readonly messageCount: number;
  readonly lastRole: string;
  readonly hasAssistant: boolean;
  /** Messages that hold conversation, oldest first: no instructions, no client-made context. */
  readonly conversation: readonly SkimMessage[];
  readonly continues: string | null;

  readonly #skim: Skim;
  #agent: string | null;
  #fields: Readonly<Record<string, string | undefined>> | null = null;
  #systemText: string | null = null;
  #firstUserText: string | null = null;
  #user: { text: string; index: number } | null = null;
  readonly #digests: string[] = [];
  #endsWithToolResult: boolean | null = null;
  readonly #texts = new Map<SkimMessage, string>();

  constructor(source: FactsSource) {
    const { skim } = source;
    this.#skim = skim;
    this.#agent = source.agent;
    this.dialect = source.dialect;
    this.headers = source.headers;
    this.clientAddress = source.clientAddress;
    this.model = this.#string('model') ?? '';
    this.stream = this.#raw('stream') === 'true';
    this.maxTokens =
      this.#number('max_completion_tokens') ??
      this.#number('max_tokens') ??
      this.#number('max_output_tokens');
    const tools = member(skim, 'tools')?.value;
    this.hasTools =
      tools?.kind === 'array' &&
      /^\[\s*[^\s\]]/.test(this.#slice(tools.start, Math.min(tools.end, tools.start + 64)));
    const messages = source.dialect === 'responses' ? skim.items : skim.messages;
    this.messageCount = messages.length;
    this.conversation = messages.filter(
      (message) => !isSystemRole(message.role) && message.type !== 'reasoning' && !this.#isInternal(message),
    );
    this.lastRole = this.conversation.at(-1)?.role ?? messages.at(-1)?.role ?? '';
    // With a previous response the history is at the provider.
    this.hasAssistant =
      messages.some((message) => message.role === 'assistant') ||
      (source.dialect === 'responses' && this.#string('previous_response_id') !== null);
    this.continues = source.continues ?? null;
  }

  get agent(): string {
    this.#agent ??= this.#guessAgent();
    return this.#agent;
  }

  get fields(): Readonly<Record<string, string | undefined>> {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  get systemText(): string {
    this.#systemText ??= this.#readSystemText();
    return this.#systemText;
  }

  get firstUserText(): string {
    if (this.#firstUserText === null) {
      const first = this.conversation.find((message) => message.role === 'user');
      this.#firstUserText = first ? this.#textOf(first) : '';
    }
    return this.#firstUserText;
  }

  get userText(): string {
    return this.#userWords().text;
  }

  get userIndex(): number {
    return this.#userWords().index;
  }

  get endsWithToolResult(): boolean {
    if (this.#endsWithToolResult === null) {
      const last = this.conversation.at(-1);
      this.#endsWithToolResult =
        last !== undefined && (last.role === 'tool' || last.role === 'function' || this.#hasToolResult(last));
    }
    return this.#endsWithToolResult;
  }

  get endsWithUserWords(): boolean {
    const { index } = this.#userWords();
    return index >= 0 && index === this.conversation.length - 1;
  }

  holds(words: string): boolean {
    const inJson = JSON.stringify(words.slice(0, KNOWN_BY).replace(/[\ud800-\udbff]$/, '')).slice(1, -1);
    if (this.#skim.bytes.includes(inJson)) return true;
    const ascii = inJson.replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return ascii !== inJson && this.#skim.bytes.includes(ascii);
  }

  digestAt(index: number): string | undefined {
    const message = this.conversation[index];
    if (message) this.#digests[index] ??= this.#digest(message);
    return this.#digests[index];
  }

  digests(): readonly string[] {
    for (const index of this.conversation.keys()) this.digestAt(index);
    return this.#digests;
  }

  #slice(start: number, end: number): string {
    return this.#skim.bytes.toString('latin1', start, end);
  }

  #raw(key: string): string | null {
    const found = member(this.#skim, key);
    return found ? this.#slice(found.value.start, found.value.end) : null;
  }

  #string(key: string): string | null {
    const found = member(this.#skim, key);
    return found?.value.kind === 'string' ? String(decodeValue(this.#skim, found.value)) : null;
  }

  #number(key: string): number | null {
    const raw = this.#raw(key);
    const value = raw === null ? Number.NaN : Number(raw);
    return Number.isFinite(value) ? value : null;
  }

  #decode(key: string): unknown {
    const found = member(this.#skim, key);
    return found ? decodeValue(this.#skim, found.value) : undefined;
  }

  #readFields(): Record<string, string | undefined> {
    const fields: Record<string, string | undefined> = {};
    for (const key of [...IDENTITY_FIELDS, 'prompt_cache_key']) {
      const value = this.#decode(key);
      if (value !== undefined && value !== null && typeof value !== 'object') fields[key] = String(value);
    }
    const inner = (key: string, name: string) => {
      const value = (this.#decode(key) as Json | null | undefined)?.[name];
      if (typeof value === 'string' || typeof value === 'number') fields[`${key}.${name}`] = String(value);
    };
    inner('metadata', 'user_id');
    inner('client_metadata', 'session_id');
    return fields;
  }

  #readSystemText(): string {
    if (this.dialect === 'anthropic') return textOfContent(this.#decode('system'));
    const own = this.dialect === 'responses' ? this.#string('instructions') : null;
    if (own) return own;
    const messages = this.dialect === 'responses' ? this.#skim.items : this.#skim.messages;
    const first = messages.find((message) => isSystemRole(message.role));
    return first ? this.#textOf(first) : '';
  }

  /** OpenClaw sends its context as a user message of its own, at the end of the history. */
  #isInternal(message: SkimMessage): boolean {
    const { content } = message;
    if (message.role !== 'user' || content === null) return false;
    const head = this.#skim.bytes.subarray(content.start, Math.min(content.end, content.start + 200));
    if (!head.includes(INTERNAL_MARK)) return false;
    return isInternal(this.#textOf(message));
  }

  #userWords(): { text: string; index: number } {
    if (this.#user === null) {
      this.#user = { text: '', index: -1 };
      for (let index = this.conversation.length - 1; index >= 0; index -= 1) {
        const message = this.conversation[index];
        if (message?.role !== 'user') continue;
        const text = ownWords(this.#textOf(message));
        if (text === '') continue;
        this.#user = { text, index };
        break;
      }
    }
    return this.#user;
  }

  /** Text of a message; only its text blocks are decoded, so that pictures cost nothing. */
  #textOf(message: SkimMessage): string {
    let text = this.#texts.get(message);
    if (text === undefined) {
      text = this.#readText(message);
      this.#texts.set(message, text);
    }
    return text;
  }

  #readText({ content }: SkimMessage): string {
    if (content?.kind === 'string') return String(decodeValue(this.#skim, content));
    if (content?.kind !== 'array') return '';
    return skimBlocks(this.#skim, content)
      .filter((block) => TEXT_TYPES.has(block.type))
      .map((block) => (decodeValue(this.#skim, block) as Json).text)
      .filter((text) => typeof text === 'string')
      .join('\n');
  }

  #hasToolResult(message: SkimMessage): boolean {
    if (message.content?.kind !== 'array') return false;
    return skimBlocks(this.#skim, message.content).some((block) => block.type === 'tool_result');
  }

  /** Covers what was said and done, not how the client spells it this time. */
  #digest(message: SkimMessage): string {
    if (this.dialect === 'responses') return this.#itemDigest(message);
    const { content } = message;
    const whole =
      content && content.end - content.start > LARGE ? null : (decodeValue(this.#skim, message) as Json);
    const said = {
      role: message.role,
      content: whole ? normalContent(whole.content) : this.#largeContent(message),
      calls:
        whole && Array.isArray(whole.tool_calls)
          ? whole.tool_calls.map((call: Json) => call?.function ?? null)
          : undefined,
    };
    return createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
  }

  /** Clients leave ids and states of items out, or make up their own. */
  #itemDigest(item: SkimMessage): string {
    const said =
      item.content === null
        ? { ...(decodeValue(this.#skim, item) as Json), id: 0, status: 0, call_id: 0 }
        : { role: item.role, content: this.#largeContent(item) };
    return createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
  }

  /** The content of a message with pictures or files: those are hashed as bytes, never decoded. */
  #largeContent({ content }: SkimMessage): unknown {
    if (content?.kind !== 'array') return content ? normalContent(decodeValue(this.#skim, content)) : '';
    const blocks = skimBlocks(this.#skim, content).map((block) => {
      if (!MEDIA.has(block.type)) return decodeValue(this.#skim, block);
      const bytes = this.#skim.bytes.subarray(block.start, block.end);
      return { type: block.type, sha256: createHash('sha256').update(bytes).digest('base64url') };
    });
    return normalContent(blocks);
  }

  #guessAgent(): string {
    const userAgent = this.headers['user-agent'] ?? '';
    if (userAgent.startsWith('claude-cli/')) return 'claude-code';
    if (userAgent.startsWith('opencode/')) return 'opencode';
    if (userAgent.startsWith('codex')) return 'codex';
    if (userAgent.startsWith('OpenAI/JS') || userAgent === 'undici') {
      if (/openclaw/i.test(this.#systemHead()) || this.#skim.bytes.includes(INTERNAL_MARK)) return 'openclaw';
    }
    return 'unknown';
  }

  #systemHead(): string {
    const messages = this.dialect === 'responses' ? this.#skim.items : this.#skim.messages;
    const system = this.dialect === 'anthropic' ? member(this.#skim, 'system')?.value : messages[0]?.content;
    if (system?.kind === 'string') return decodeHead(this.#skim, system, 4096);
    if (this.dialect !== 'responses' || !system) return '';
    return this.#slice(system.start, Math.min(system.end, system.start + 4096));
  }
}

/** Text of a content value: a string, or the text blocks of an array, a line between. */
function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter((block: Json) => block?.type === 'text' && typeof block.text === 'string')
    .map((block: Json) => block.text)
    .join('\n');
}

/** One spelling for contents that mean the same; reasoning is left out, since clients drop it later. */
function normalContent(content: unknown): unknown {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const blocks = (content as Json[])
    .filter((block) => block?.type !== 'thinking' && block?.type !== 'redacted_thinking')
    .map((block) => {
      if (block?.type === 'tool_use') return { type: 'tool_use', name: block.name, input: block.input };
      const { cache_control: _, tool_use_id: __, ...rest } = block ?? {};
      return 'content' in rest ? { ...rest, content: normalContent(rest.content) } : rest;
    });
  const only = blocks[0];
  if (blocks.length === 1 && TEXT_TYPES.has(String(only?.type))) return only?.text;
  return blocks;
}
