import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { BodySink } from '../upstream/index.ts';
import type { Flow } from './stream.ts';
import { ZstdDecoder } from './zstd.ts';

/** A decoder for an answer's content encoding; null when there is none. */
function decoderOf(encoding: string): Transform | null {
  const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip(options);
  if (encoding === 'deflate') return zlib.createInflate(options);
  if (encoding === 'br') return zlib.createBrotliDecompress();
  return encoding === 'zstd' ? new ZstdDecoder() : null;
}

/**
 * An answer that came compressed although identity was asked for, read as plain bytes while it arrives.
 * null when the encoding is unknown: then the bytes can only be passed on as they are.
 */
export function decoded(body: Flow, encoding: string | undefined): Flow | null {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return body;
  const decoder = decoderOf(encoding.trim().toLowerCase());
  return decoder && new DecodedFlow(body, decoder);
}

class DecodedFlow implements Flow {
  readonly #body: Flow;
  readonly #decoder: Transform;

  constructor(body: Flow, decoder: Transform) {
    this.#body = body;
    this.#decoder = decoder;
  }

  pipe(sink: BodySink): void {
    const decoder = this.#decoder;
    decoder.on('data', (chunk: Buffer) => {
      if (!sink.data(chunk)) decoder.pause();
    });
    decoder.on('end', () => sink.end());
    decoder.on('error', (error) => {
      this.#body.abort();
      sink.fail(error);
    });
    decoder.on('drain', () => this.#body.resume());
    this.#body.pipe({
      data: (chunk) => decoder.write(chunk),
      end: () => decoder.end(),
      fail: (error) => decoder.destroy(error),
    });
  }

  resume(): void {
    this.#decoder.resume();
  }

  abort(): void {
    this.#body.abort();
    this.#decoder.destroy();
  }
}

/** No whole answer is larger. */
const LARGEST_ANSWER = 256 * 1024 * 1024;

/** The whole body as bytes; rejects when the upstream breaks, or sends more than an answer can be. */
export function collect(body: Flow): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    body.pipe({
      data: (chunk) => {
        size += chunk.length;
        if (size > LARGEST_ANSWER) {
          chunks.length = 0;
          reject(new Error(`it is larger than ${LARGEST_ANSWER / 1024 / 1024} MB`));
          body.abort();
        } else chunks.push(chunk);
        return true;
      },
      end: () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
      fail: reject,
    });
  });
}
