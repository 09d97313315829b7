import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { AppError, messageOf } from '../../shared/errors.ts';
import { zstdDecompress } from './zstd.ts';

type Decoder = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

function decoderOf(encoding: string): Decoder | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return promisify(zlib.gunzip);
  if (encoding === 'deflate') return inflate;
  if (encoding === 'br') return promisify(zlib.brotliDecompress);
  return encoding === 'zstd' ? zstdDecompress : null;
}

/** Some clients mean the bare stream by `deflate`, others the one with a zlib head. */
const inflate: Decoder = (data, options) =>
  promisify(((data[0] ?? 0) & 0x0f) === 8 ? zlib.inflate : zlib.inflateRaw)(data, options);

/**
 * The whole request body, content encodings undone. Throws BODY_TOO_LARGE beyond `limitBytes` (before or after
 * decoding), MEDIA_TYPE for an encoding that cannot be read, BAD_INPUT for a body that is no text in UTF-8 (it would
 * reach a translated request with other letters in it), CANCELLED when the client left.
 */
export async function readRequestBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encodings = (request.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const decoders = encodings.map((name) => {
    const decoder = decoderOf(name);
    if (!decoder)
      throw new AppError('MEDIA_TYPE', `Bodies compressed with ${name} cannot be read here.`, {
        hint: 'Send the body uncompressed, or with gzip, deflate, br or zstd.',
      });
    return decoder;
  });
  let body = await collect(request, limitBytes);
  for (const decode of decoders.reverse()) {
    try {
      body = await decode(body, { maxOutputLength: limitBytes });
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limitBytes);
      throw new AppError('BAD_INPUT', `The compressed body is broken: ${messageOf(error)}`, { cause: error });
    }
  }
  if (!isUtf8(body))
    throw new AppError('BAD_INPUT', 'The request body is not valid UTF-8.', {
      hint: 'Send JSON in UTF-8, without a byte of another encoding.',
    });
  return body;
}

function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) {
        chunks.length = 0;
        reject(tooLarge(limitBytes));
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const left = () => reject(new AppError('CANCELLED', 'The client left before its request was complete.'));
    request.on('error', left);
    request.on('close', left);
  });
}

function tooLarge(limitBytes: number): AppError {
  return new AppError(
    'BODY_TOO_LARGE',
    `The request body is larger than ${Math.floor(limitBytes / 1048576)} MB.`,
    {
      hint: 'Raise proxy.max_body_mb, or send less.',
      field: 'proxy.max_body_mb',
    },
  );
}
