import { z } from 'zod';
import { functionShape } from '../chat-request.ts';
import { asArray, asText, type DroppedNames, isObject, read, refuse } from '../json.ts';
import type { ToolNames } from '../tool-names.ts';
import type { JsonObject, ResponsesTool } from '../types.ts';

type Path = readonly PropertyKey[];

/** Run at OpenAI and only add to what a model can do; agents send them by default, and go on without. */
const OPTIONAL = /^(?:web_search|web_search_preview|tool_search|image_generation)(?:_\d{4}_\d{2}_\d{2})?$/;
const HANDLED = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const HANDLED_CUSTOM = new Set(['type', 'name', 'description', 'format']);

const HANDLED_GROUP = new Set(['type', 'name', 'tools']);

const namespaceShape = z.looseObject({
  name: z.string().min(1),
  tools: z.array(z.looseObject({})).nullish(),
});

/** Names that a Responses client's tools have on a chat wire, and the way back. */
export class ToolBook {
  readonly #names: ToolNames;
  readonly #known = new Map<string, ResponsesTool>();

  constructor(names: ToolNames) {
    this.#names = names;
  }

  wire(tool: ResponsesTool): string {
    const wire = this.#names.wire(tool.namespace === null ? tool.name : `${tool.namespace}__${tool.name}`);
    this.#known.set(wire, this.#known.get(wire) ?? tool);
    return wire;
  }

  /** Wire name → tool, for the calls of the reply. */
  get known(): ReadonlyMap<string, ResponsesTool> {
    return this.#known;
  }
}

/** Where a tool stands, and what its translation is told to. */
interface Bench {
  book: ToolBook;
  dropped: DroppedNames;
  path: Path;
  namespace: string | null;
}

/**
 * The tools of a Responses request as chat functions. Free-form (`custom`) tools become functions with one text
 * parameter, and those of a namespace get its name in front; calls are told to the client in its own form again.
 * Refuses tools that run at OpenAI and that the request depends on; lists those that are mere extras.
 */
export function chatTools(
  tools: readonly JsonObject[],
  book: ToolBook,
  dropped: DroppedNames,
  path: Path = ['tools'],
  namespace: string | null = null,
): JsonObject[] {
  return tools.flatMap((tool, index) => chatTool(tool, { book, dropped, path: [...path, index], namespace }));
}

function chatTool(tool: JsonObject, bench: Bench): JsonObject[] {
  const { book, dropped, path } = bench;
  const type = asText(tool.type) || 'function';
  switch (type) {
    case 'function':
      return [functionTool(tool, bench)];
    case 'custom':
      return [customTool(tool, bench)];
    case 'namespace': {
      const { name, tools } = read(namespaceShape, tool, path);
      dropped.addUnknown(tool, HANDLED_GROUP, 'tools.namespace.');
      return chatTools(tools ?? [], book, dropped, [...path, 'tools'], name);
    }
    default:
      if (!OPTIONAL.test(type))
        refuse(`The tool ${type} runs at OpenAI; this provider has nothing like it.`, [...path, 'type']);
      dropped.add(`tools.${type}`);
      return [];
  }
}

function functionTool(tool: JsonObject, { book, dropped, path, namespace }: Bench): JsonObject {
  const { name } = read(functionShape, tool, path);
  dropped.addUnknown(tool, HANDLED, 'tools.');
  return {
    type: 'function',
    function: {
      name: book.wire({ kind: 'function', name, namespace }),
      ...(asText(tool.description) === '' ? {} : { description: tool.description }),
      parameters: isObject(tool.parameters) ? tool.parameters : { type: 'object', properties: {} },
      ...(tool.strict === true ? { strict: true } : {}),
    },
  };
}

/** The grammar of a free-form tool cannot be enforced here; the model is told of it instead, and it is listed. */
function customTool(tool: JsonObject, { book, dropped, path, namespace }: Bench): JsonObject {
  const { name } = read(functionShape, tool, path);
  dropped.addUnknown(tool, HANDLED_CUSTOM, 'tools.');
  const format = isObject(tool.format) && tool.format.type === 'grammar' ? tool.format : null;
  if (format !== null) dropped.add('tools.format');
  const grammar =
    format === null
      ? ''
      : `The text must follow this ${asText(format.syntax) || 'formal'} grammar:\n${asText(format.definition)}`;
  const description = [asText(tool.description), grammar].filter((text) => text !== '').join('\n\n');
  return {
    type: 'function',
    function: {
      name: book.wire({ kind: 'custom', name, namespace }),
      ...(description === '' ? {} : { description }),
      parameters: {
        type: 'object',
        properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
        required: ['input'],
      },
    },
  };
}

/** Which tools the model may or must call, on the chat wire; `tools` are cut down where the client named some. */
export function chatToolChoice(
  choice: unknown,
  tools: readonly JsonObject[],
  book: ToolBook,
): { tools: readonly JsonObject[]; choice: unknown } {
  if (choice === undefined || choice === null) return { tools, choice: undefined };
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { tools, choice };
  if (!isObject(choice)) return refuse('This tool_choice is not known.', ['tool_choice']);
  if (choice.type === 'allowed_tools') {
    const allowed = new Set(
      asArray(choice.tools)
        .filter(isObject)
        .map((tool) => wireOf(tool, book)),
    );
    const left = tools.filter((tool) => isObject(tool.function) && allowed.has(asText(tool.function.name)));
    return { tools: left, choice: choice.mode === 'required' ? 'required' : 'auto' };
  }
  if (choice.type !== 'function' && choice.type !== 'custom')
    return refuse(`The tool ${asText(choice.type)} cannot be chosen at this provider.`, ['tool_choice']);
  return { tools, choice: { type: 'function', function: { name: wireOf(choice, book) } } };
}

function wireOf(tool: JsonObject, book: ToolBook): string {
  const kind = tool.type === 'custom' ? 'custom' : 'function';
  const namespace = asText(tool.namespace) || null;
  return book.wire({ kind, name: read(z.string(), tool.name, ['tool_choice', 'name']), namespace });
}
