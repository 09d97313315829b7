import { z } from 'zod';
import { asArray, asText, type DroppedNames, isObject, read, refuse } from '../json.ts';
import type { CallIds } from '../tool-names.ts';
import type { JsonObject, TranslateOptions } from '../types.ts';
import { isOutputType, reasoningText } from './items.ts';
import type { ToolBook } from './tools.ts';

export interface HistoryTools {
  options: Pick<TranslateOptions, 'developerRole' | 'textOnly' | 'model' | 'reasoning' | 'middle'>;
  book: ToolBook;
  ids: CallIds;
  dropped: DroppedNames;
}

type Path = readonly PropertyKey[];

const contentShape = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))], {
  error: 'must be a string or an array of content parts',
});

/** Notes of tools that ran at OpenAI: what they found stands in the text beside them. */
const HOSTED = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
  'configuration_update',
  'additional_tools',
]);

/** Sealed, or kept elsewhere: without them the conversation would have a hole. */
const ONLY_OPENAI = new Set(['compaction', 'compaction_trigger', 'item_reference']);

/** Fields of messages, calls and outputs that are said on the other wire, or name a thing of the client's own. */
const ITEM_FIELDS = new Set(
  'type id role content status call_id name namespace arguments input output created_by'.split(' '),
);
const PART_FIELDS = new Set(
  'type text refusal image_url detail file_data file_url filename file_id input_audio logprobs'.split(' '),
);

/** Items of the Responses API → chat messages in the same order, calls and their outputs together. */
export function chatMessages(items: readonly JsonObject[], tools: HistoryTools): JsonObject[] {
  const history = new ChatHistory(items, tools);
  for (const index of items.keys()) history.add(index);
  return history.end();
}

class ChatHistory {
  readonly #items: readonly JsonObject[];
  readonly #tools: HistoryTools;
  readonly #out: JsonObject[] = [];
  /** Calls of the newest assistant message that have no output yet. */
  readonly #open = new Set<string>();
  /** Where each call's output stands. */
  readonly #outputs = new Map<string, number>();
  /** Would part calls from their outputs; comes after them. */
  #held: JsonObject[] = [];
  #media: JsonObject[] = [];
  #reasoning: string[] = [];

  constructor(items: readonly JsonObject[], tools: HistoryTools) {
    this.#items = items;
    this.#tools = tools;
    for (const [index, item] of items.entries())
      if (isOutputType(asText(item.type))) this.#outputs.set(asText(item.call_id), index);
  }

  add(index: number): void {
    const item = this.#items[index] as JsonObject;
    const path = ['input', index];
    const type = asText(item.type);
    if (/^(?:message|(?:function|custom_tool)_call(?:_output)?|)$/.test(type))
      this.#tools.dropped.addUnknown(item, ITEM_FIELDS, 'input.');
    if (type === 'message' || (type === '' && item.role !== undefined)) this.#message(item, index, path);
    else if (type === 'reasoning') this.#think(item);
    else if (ONLY_OPENAI.has(type))
      refuse(`What an item of type ${type} stands for is known at OpenAI only.`, path);
    else if (HOSTED.has(type) || !/_(?:call|output)$/.test(type))
      this.#tools.dropped.add(`input.${type || 'item'}`);
    else if (isOutputType(type)) this.#output(item, path);
    else this.#call(item, type, path);
  }

  end(): JsonObject[] {
    this.#release();
    if (this.#tools.options.reasoning === 'drop' && this.#reasoning.length > 0) this.#dropReasoning();
    return this.#out;
  }

  #message(item: JsonObject, index: number, path: Path): void {
    const role = asText(item.role);
    const content = read(contentShape, item.content ?? '', [...path, 'content']);
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
    if (role === 'assistant') {
      this.#say(parts);
      return;
    }
    if (role !== 'user' && role !== 'system' && role !== 'developer')
      refuse(`Messages of role ${role} are not known.`, [...path, 'role']);
    const own = parts.flatMap((part, at) => this.#part(part, [...path, 'content', at]));
    if (own.length === 0) return;
    if (role === 'user') this.#place({ role, content: joinParts(own) }, index);
    else {
      const text = own.map((part) => asText(part.text)).join('\n');
      const told = this.#tools.options.developerRole ? role : 'system';
      this.#place({ role: told, content: text }, index);
    }
  }

  #place(message: JsonObject, index: number): void {
    const waits = [...this.#open].some((id) => (this.#outputs.get(id) ?? -1) > index);
    if (waits) this.#held.push(message);
    else this.#out.push(message);
  }

  #say(parts: readonly JsonObject[]): void {
    const texts = parts.map((part) => {
      this.#tools.dropped.addUnknown(part, PART_FIELDS, 'input.');
      if (part.type === 'refusal') return asText(part.refusal);
      if (part.type === 'output_text' || part.type === 'input_text' || part.type === 'text')
        return asText(part.text);
      this.#tools.dropped.add(`input.${asText(part.type)}`);
      return '';
    });
    const text = texts.filter((part) => part !== '').join('\n');
    if (text === '') return;
    const message = this.#assistant();
    const before = asText(message.content);
    message.content = before === '' ? text : `${before}\n${text}`;
  }

  #call(item: JsonObject, type: string, path: Path): void {
    const { book, ids } = this.#tools;
    const namespace = asText(item.namespace) || null;
    const id = read(z.string(), item.call_id ?? item.id, [...path, 'call_id']);
    let name = type.replace(/_call$/, '');
    let args: string;
    if (type === 'function_call') {
      name = read(z.string(), item.name, [...path, 'name']);
      args = asText(item.arguments) || '{}';
    } else if (type === 'custom_tool_call') {
      name = read(z.string(), item.name, [...path, 'name']);
      args = JSON.stringify({ input: asText(item.input) });
    } else {
      // A tool of OpenAI's that the client runs itself: the model can still read what was done.
      const { type: _, id: __, call_id: ___, status: ____, ...rest } = item;
      args = JSON.stringify(rest);
    }
    const kind = type === 'custom_tool_call' ? ('custom' as const) : ('function' as const);
    const message = this.#assistant();
    const calls = asArray(message.tool_calls);
    const wireId = ids.call(id);
    message.tool_calls = [
      ...calls,
      {
        id: wireId,
        type: 'function',
        function: { name: book.wire({ kind, name, namespace }), arguments: args },
      },
    ];
    this.#open.add(id);
  }

  #output(item: JsonObject, path: Path): void {
    const id = read(z.string(), item.call_id ?? item.id, [...path, 'call_id']);
    const wireId = this.#tools.ids.result(id);
    const { output } = item;
    const whole = typeof output === 'string' || Array.isArray(output) ? output : JSON.stringify(output ?? '');
    const told =
      typeof whole === 'string' ? [{ type: 'input_text', text: whole }] : asArray(whole).filter(isObject);
    const parts = told.flatMap((part, at) => this.#resultPart(part, [...path, 'output', at]));
    const media = parts.filter((part) => part.type !== 'text');
    const text = parts
      .filter((part) => part.type === 'text')
      .map((part) => asText(part.text))
      .join('\n');
    // Most chat servers take text from tools only; pictures follow in a user message.
    const inside = media.length > 0 && this.#tools.options.middle === true;
    this.#out.push({ role: 'tool', tool_call_id: wireId, content: inside ? parts : text });
    if (media.length > 0 && !inside)
      this.#media.push({ type: 'text', text: `Output of tool call ${wireId}:` }, ...media);
    this.#open.delete(id);
    if (this.#open.size === 0) this.#release();
  }

  /** Parts that nobody knows are data for the model to read; as JSON text nothing of them is lost. */
  #resultPart(part: JsonObject, path: Path): JsonObject[] {
    return /^(?:input_|output_)?(?:text|image|file)$/.test(asText(part.type))
      ? this.#part(part, path)
      : [{ type: 'text', text: JSON.stringify(part) }];
  }

  #think(item: JsonObject): void {
    const text = reasoningText(item);
    if (text !== '' || asText(item.encrypted_content) !== '') this.#reasoning.push(text);
  }

  /** The assistant message that is being put together: the last one, unless something came after it. */
  #assistant(): JsonObject {
    const last = this.#out.at(-1);
    const message: JsonObject = last?.role === 'assistant' ? last : { role: 'assistant', content: null };
    if (message !== last) {
      this.#release();
      this.#out.push(message);
      this.#open.clear();
    }
    if (this.#reasoning.length === 0) return message;
    if (this.#tools.options.reasoning === 'reasoning_content') {
      const text = this.#reasoning.filter((part) => part !== '').join('\n');
      message.reasoning_content = [asText(message.reasoning_content), text]
        .filter((part) => part !== '')
        .join('\n');
      this.#reasoning = [];
    } else this.#dropReasoning();
    return message;
  }

  #dropReasoning(): void {
    this.#tools.dropped.add('input.reasoning');
    this.#reasoning = [];
  }

  #release(): void {
    if (this.#media.length > 0) this.#out.push({ role: 'user', content: this.#media });
    this.#out.push(...this.#held);
    this.#media = [];
    this.#held = [];
  }

  #part(part: JsonObject, path: Path): JsonObject[] {
    this.#tools.dropped.addUnknown(part, PART_FIELDS, 'input.');
    const { detail } = part;
    const isSaid =
      detail === 'auto' || (part.type === 'input_image' && /^(?:low|high)$/.test(asText(detail)));
    if (asText(detail) !== '' && !isSaid) this.#tools.dropped.add('input.detail');
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text': {
        const text = read(z.string(), part.text, [...path, 'text']);
        return text === '' ? [] : [{ type: 'text', text }];
      }
      case 'input_image':
        return [this.#ownMedia(imagePart(part, path), path)];
      case 'input_file':
        return [this.#ownMedia(filePart(part, path, this.#tools.options.middle === true), path)];
      case 'input_audio':
        return [this.#ownMedia({ type: 'input_audio', input_audio: part.input_audio }, path)];
      default:
        return refuse(`Content of type ${asText(part.type)} cannot be sent to this provider.`, [
          ...path,
          'type',
        ]);
    }
  }

  #ownMedia(part: JsonObject, path: Path): JsonObject {
    const { textOnly, model } = this.#tools.options;
    if (textOnly) refuse(`The model ${model} takes text only; the message holds an image or a file.`, path);
    return part;
  }
}

function imagePart(part: JsonObject, path: Path): JsonObject {
  const url = asText(part.image_url);
  if (url === '') return refuse('An image given by file id exists only at OpenAI.', [...path, 'file_id']);
  const { detail } = part;
  const wanted = detail === 'low' || detail === 'high' ? { detail } : {};
  return { type: 'image_url', image_url: { url, ...wanted } };
}

/** Only the middle between two dialects can hold a file's address. */
function filePart(part: JsonObject, path: Path, middle: boolean): JsonObject {
  const data = asText(part.file_data);
  const url = asText(part.file_url);
  const name = asText(part.filename);
  const named = name === '' ? {} : { filename: name };
  if (data !== '') return { type: 'file', file: { ...named, file_data: data } };
  if (url !== '' && middle) return { type: 'file', file: { ...named, file_url: url } };
  if (asText(part.file_id) !== '')
    refuse('A file given by its id exists only at OpenAI; give it as base64 data.', [...path, 'file_id']);
  return refuse('A file must be given as base64 data for this provider.', [
    ...path,
    url === '' ? 'file_data' : 'file_url',
  ]);
}

/** Text alone goes as a string, which every server understands; media needs parts. */
function joinParts(parts: readonly JsonObject[]): string | JsonObject[] {
  if (!parts.every((part) => part.type === 'text')) return [...parts];
  return parts.map((part) => asText(part.text)).join('\n');
}
