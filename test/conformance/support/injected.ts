/** What MetaClaw adds, found in the bytes that reached the provider without MetaClaw's own code. */

const FRAMES = {
  system: {
    text: /(?:\\n\\n)?(<metaclaw_skills>.*?<\/metaclaw_skills>)/g,
    block: /,?\{"type":"text","text":"(<metaclaw_skills>.*?<\/metaclaw_skills>)"\}/g,
  },
  message: {
    text: /(<metaclaw_context>.*?<\/metaclaw_context>\\n\\n)/g,
    block: /,?\{"type":"text","text":"(<metaclaw_context>.*?<\/metaclaw_context>\\n\\n)"\}(?:,(?=\{))?/g,
  },
} as const;

export interface Injected {
  /** Skills blocks in the order in which they stand, as JSON string contents. */
  system: string[];
  /** Blocks before a message's words. */
  messages: string[];
  /** The body without them. */
  rest: string;
}

export function findInjected(body: Buffer): Injected {
  let rest = body.toString('utf8');
  const take = ({ text, block }: { text: RegExp; block: RegExp }): string[] => {
    const found: string[] = [];
    for (const pattern of [block, text])
      rest = rest.replace(pattern, (_, inner: string) => {
        found.push(inner);
        return '';
      });
    return found;
  };
  return { system: take(FRAMES.system), messages: take(FRAMES.message), rest };
}
