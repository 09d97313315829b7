/** What MetaClaw adds, found in the bytes that reached the provider without MetaClaw's own code. */

const FRAMES = {
  system: {
    text: /(?:\\n\\n)?(<metaclaw_skills>.*?<\/metaclaw_skills>)/g,
    block: /,?\{"type":"(?:input_)?text","text":"(<metaclaw_skills>.*?<\/metaclaw_skills>)"\}/g,
  },
  message: {
    text: /(<metaclaw_context>.*?<\/metaclaw_context>\\n\\n)/g,
    block:
      /,?\{"type":"(?:input_)?text","text":"(<metaclaw_context>.*?<\/metaclaw_context>\\n\\n)"\}(?:,(?=\{))?/g,
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

/** Where two texts part, with what stands around it on either side; null when they are the same. */
export function difference(one: string, other: string): { at: number; one: string; other: string } | null {
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 120);
  return { at, one: around(one), other: around(other) };
}
