/** What stands in a request of any dialect, read without MetaClaw's own code. */

type Json = Record<string, unknown>;

/** The names of the tools that the client itself runs, as a model is told them. */
export function toolNames(body: Json): string[] {
  return toolsOf(body).flatMap((tool) => {
    const inner = tool.function as Json | undefined;
    if (tool.type === 'namespace')
      return (tool.tools as Json[]).map(({ name }) => `${String(tool.name)}__${String(name)}`);
    const name = tool.name ?? inner?.name;
    return name === undefined ? [] : [String(name)];
  });
}

/** The types of the tools that the provider would run, such as OpenAI's web search: nobody else has them. */
export function providerTools(body: Json): string[] {
  return toolsOf(body)
    .filter((tool) => tool.name === undefined && tool.function === undefined)
    .map(({ type }) => String(type));
}

/** All texts that a person or a program wrote into it. */
export function allText(body: Json): string[] {
  const messages = (body.messages ?? body.input ?? []) as Json[];
  return [body.system, body.instructions, ...messages.map((item) => item.content ?? item.output)].flatMap(
    textOf,
  );
}

function textOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return (content as Json[]).flatMap((block) =>
    typeof block.text === 'string' ? [block.text] : textOf(block.content),
  );
}

const toolsOf = (body: Json) => (body.tools ?? []) as Json[];
