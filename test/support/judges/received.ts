import type { Dialect } from '../../../src/shared/model.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of three APIs, read as their services read them
type Json = Record<string, any>;

/** What a provider understood of a request on its own wire. */
export interface Received {
  system: string;
  text: string;
  /** Base64. */
  images: string[];
  pdfs: string[];
  tools: string[];
  schema: unknown;
  thinks: boolean;
  /** Outputs of tools, in the order in which they came. */
  results: string[];
}

const base64 = (url: unknown) => String(url).replace(/^data:[^,]*,/, '');

const READ: Readonly<Record<Dialect, (body: Json) => Received>> = {
  openai: (body) => {
    const parts = body.messages.flatMap(({ role, content }: Json) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])).map(
        (part: Json) => ({ role, ...part }),
      ),
    ) as Json[];
    const texts = (...roles: string[]) =>
      parts.filter((part) => roles.includes(part.role)).map((part) => part.text);
    return {
      system: texts('system', 'developer').join(''),
      text: texts('user').join(''),
      images: parts.filter(({ type }) => type === 'image_url').map(({ image_url }) => base64(image_url.url)),
      pdfs: parts.filter(({ type }) => type === 'file').map(({ file }) => base64(file.file_data)),
      tools: (body.tools ?? []).map((tool: Json) => tool.function.name),
      schema: body.response_format?.json_schema?.schema,
      thinks: body.reasoning_effort === 'high',
      results: texts('tool'),
    };
  },
  anthropic: (body) => {
    const blocks = body.messages.flatMap(({ role, content }: Json) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block: Json) => ({
        role,
        ...block,
      })),
    ) as Json[];
    const of = (type: string) => blocks.filter((block) => block.type === type && block.role === 'user');
    const system = typeof body.system === 'string' ? [{ text: body.system }] : (body.system ?? []);
    return {
      system: system.map(({ text }: Json) => text).join(''),
      text: of('text')
        .map(({ text }) => text)
        .join(''),
      images: of('image').map(({ source }) => source.data),
      pdfs: of('document').map(({ source }) => source.data),
      tools: (body.tools ?? []).map(({ name }: Json) => name),
      schema: body.output_config?.format?.schema,
      thinks: body.thinking?.type === 'enabled' && body.thinking.budget_tokens >= 16_384,
      results: of('tool_result').map(({ content }) =>
        typeof content === 'string' ? content : content.map(({ text }: Json) => text).join(''),
      ),
    };
  },
  responses: (body) => {
    const items = (
      typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input
    ) as Json[];
    const parts = items.flatMap(({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? [])).map(
        (part: Json) => ({ role, ...part }),
      ),
    ) as Json[];
    const texts = (...roles: string[]) =>
      parts.filter((part) => roles.includes(part.role)).map((part) => part.text);
    return {
      system: [body.instructions, ...texts('system', 'developer')].join(''),
      text: texts('user').join(''),
      images: parts.filter(({ type }) => type === 'input_image').map(({ image_url }) => base64(image_url)),
      pdfs: parts.filter(({ type }) => type === 'input_file').map(({ file_data }) => base64(file_data)),
      tools: (body.tools ?? []).map(({ name }: Json) => name),
      schema: body.text?.format?.schema,
      thinks: body.reasoning?.effort === 'high',
      results: items
        .filter(({ type }) => type === 'function_call_output')
        .map(({ output }) =>
          typeof output === 'string' ? output : output.map(({ text }: Json) => text).join(''),
        ),
    };
  },
};

/** Reads a request as the service on that wire would. */
export function received(wire: Dialect, body: Json): Received {
  return READ[wire](body);
}
