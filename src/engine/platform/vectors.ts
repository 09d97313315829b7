import { createHash } from 'node:crypto';

/** What of a text is embedded; models take no more, or blur it. */
const EMBEDDED_CHARS = 4000;

/** The part of a text that its vector stands for, in one spelling. */
export function embeddedPart(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, EMBEDDED_CHARS);
}

/** Key under which a text's vector is kept. */
export function vectorKey(text: string): string {
  return createHash('sha256').update(embeddedPart(text)).digest('base64url').slice(0, 22);
}

/** Similarity of two vectors of length 1, -1 to 1; null for vectors of different sizes, which say nothing. */
export function similarity(one: Float32Array, other: Float32Array): number | null {
  if (one.length !== other.length) return null;
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** The same direction with length 1; null for what has none (zeros, NaN, infinities). */
export function unitVector(values: ArrayLike<number>): Float32Array | null {
  let square = 0;
  for (let at = 0; at < values.length; at += 1) square += (values[at] ?? Number.NaN) ** 2;
  const length = Math.sqrt(square);
  if (!Number.isFinite(length) || length < 1e-12) return null;
  const unit = new Float32Array(values.length);
  for (let at = 0; at < values.length; at += 1) unit[at] = (values[at] ?? 0) / length;
  return unit;
}

/** Vector as the store keeps it: 32-bit floats, little-endian. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let at = 0; at < vector.length; at += 1) bytes.writeFloatLE(vector[at] ?? 0, at * 4);
  return bytes;
}

/** The numbers of `vectorBytes`, and of the base64 that endpoints answer with. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array(Math.floor(bytes.byteLength / 4));
  for (let at = 0; at < vector.length; at += 1) vector[at] = view.getFloat32(at * 4, true);
  return vector;
}
