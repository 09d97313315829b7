/** Blocks in which this product, the original and other memory plugins hand notes to a model. */
const BLOCK =
  /<(metaclaw[\w-]{0,40}|(?:relevant|recalled|supermemory|mem0|user)[-_](?:memor(?:y|ies)|context))(?:\s[^>]{0,200})?>[\s\S]*?(?:<\/\1>|$)/gi;
/** The original wrote its block without a frame, from a heading to the next blank line but one. */
const UNFRAMED = /^#{1,3} Relevant Long-Term Memory[^\n]*\n(?:(?:[ \t]*[-*#][^\n]*|[ \t]*)\n?)*/gim;

/** A text without the notes that were injected into it, whoever plays them back. */
export function withoutInjected(text: string): string {
  let plain = text;
  if (plain.includes('<')) plain = plain.replace(BLOCK, '');
  if (plain.includes('Long-Term Memory')) plain = plain.replace(UNFRAMED, '');
  return plain === text ? text : plain.trim();
}
