/**
 * A posting block: for each document, ascending, a varint of `2 * (number - the one before it) + repeated`, and where
 * a term is repeated in it, one byte of how often (at most 255). The first is counted from `first`.
 */
export interface Posting {
  /** Number of the document within its scope. */
  doc: number;
  /** How often the term stands there. */
  times: number;
}

export function encodePostings(first: number, postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = [];
  let last = first;
  for (const { doc, times } of postings) {
    let rest = (doc - last) * 2 + (times > 1 ? 1 : 0);
    while (rest > 127) {
      bytes.push((rest & 127) | 128);
      rest >>>= 7;
    }
    bytes.push(rest);
    if (times > 1) bytes.push(Math.min(255, times));
    last = doc;
  }
  return Uint8Array.from(bytes);
}

/** Calls `visit` for each document of a block, in ascending order. */
export function eachPosting(
  first: number,
  data: Uint8Array,
  visit: (doc: number, times: number) => void,
): void {
  let doc = first;
  for (let at = 0; at < data.length; ) {
    let value = 0;
    let shift = 0;
    let byte = 0;
    do {
      byte = data[at++] ?? 0;
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    doc += value >>> 1;
    visit(doc, value & 1 ? (data[at++] ?? 1) : 1);
  }
}
