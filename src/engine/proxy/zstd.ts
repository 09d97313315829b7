import { Transform, type TransformCallback } from 'node:stream';
import { Decompress } from 'fzstd';

/** Zstandard for every runtime: node:zlib has it only from Node 22.15 on. Reads while the bytes arrive. */
export class ZstdDecoder extends Transform {
  readonly #decoder = new Decompress((chunk) => this.push(Buffer.from(chunk)));

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#feed(chunk, false, done);
  }

  override _flush(done: TransformCallback): void {
    this.#feed(Buffer.alloc(0), true, done);
  }

  #feed(chunk: Buffer, isLast: boolean, done: TransformCallback): void {
    try {
      this.#decoder.push(chunk, isLast);
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

/** The whole of it at once. Throws when it is broken, and ERR_BUFFER_TOO_LARGE (as node:zlib) beyond the limit. */
export async function zstdDecompress(data: Buffer, options: { maxOutputLength: number }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const decoder = new Decompress((chunk) => {
    size += chunk.length;
    if (size > options.maxOutputLength)
      throw Object.assign(new RangeError('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
    chunks.push(Buffer.from(chunk));
  });
  decoder.push(data, true);
  return Buffer.concat(chunks);
}
