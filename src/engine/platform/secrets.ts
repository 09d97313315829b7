import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { SecretStore } from '../ports.ts';
import { makePrivate, readCapped, setAside, writeAtomic } from './files.ts';

const fileSchema = z.object({ version: z.literal(1), secrets: z.record(z.string(), z.string()) });
const MAX_BYTES = 1024 * 1024;

/**
 * Secrets in a JSON file that only its owner can read, for hosts without an OS keychain. Read afresh on each call:
 * another process (the CLI) may have written it. A damaged file is moved aside, never overwritten.
 */
export class FileSecretStore implements SecretStore {
  readonly #path: string;
  #damaged: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  get(name: string): string | null {
    const secrets = this.#read();
    return Object.hasOwn(secrets, name) ? (secrets[name] ?? null) : null;
  }

  set(name: string, value: string): void {
    this.#write({ ...this.#read(), [name]: value });
  }

  clear(name: string): void {
    const { [name]: gone, ...rest } = this.#read();
    if (gone !== undefined) this.#write(rest);
  }

  names(): string[] {
    return Object.keys(this.#read()).sort();
  }

  describe(): { kind: 'file'; detail: string } {
    const damaged = this.#damaged === null ? '' : `; an unreadable one was kept as ${this.#damaged}`;
    return { kind: 'file', detail: `${this.#path}, readable by you only${damaged}` };
  }

  #read(): Record<string, string> {
    let bytes: Buffer | null;
    try {
      bytes = readCapped(this.#path, MAX_BYTES);
    } catch (error) {
      throw new AppError('SECRET_NOT_READABLE', error instanceof Error ? error.message : String(error), {
        hint: 'Check the owner and permissions of the file.',
        cause: error,
      });
    }
    if (bytes === null) return {};
    makePrivate(this.#path);
    const parsed = fileSchema.safeParse(parseJson(bytes.toString('utf8')));
    if (parsed.success) return parsed.data.secrets;
    this.#damaged = setAside(this.#path);
    return {};
  }

  #write(secrets: Record<string, string>): void {
    writeAtomic(this.#path, `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
