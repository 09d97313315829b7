import type { ConfigProblem } from '../../shared/contract.ts';
import { isText } from './config-entry.ts';
import { parseConfigText } from './config-text.ts';
import { readCapped, writeAtomic } from './files.ts';
import type { Logger } from './logger.ts';

/** No config file is larger; what is, is something else. */
export const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/** The copy of the last config file that loaded without an error: what a start falls back to. */
export class LastGoodConfig {
  readonly #path: string;
  readonly #log: Logger;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** What the copy says; null when there is none that can be read. */
  values(): Record<string, unknown> | null {
    const text = this.#text();
    if (text === null) return null;
    const parsed = parseConfigText(text, isText);
    return 'values' in parsed ? parsed.values : null;
  }

  /** Makes `text` the copy. Failing is logged only: the config itself is in order. */
  keep(text: string): void {
    try {
      if (this.#text() !== text) writeAtomic(this.#path, text);
    } catch (error) {
      this.#log.warn({ err: error }, 'no copy of the config could be kept');
    }
  }

  /**
   * What is wrong when `text` is a cut-off piece of the copy: a power cut leaves an empty file, or one that ends in
   * the middle of what it was, and that is no wish for defaults.
   */
  isCutTo(text: string): ConfigProblem | null {
    const good = this.#text();
    if (good === null || good.length <= text.length || !good.startsWith(text)) return null;
    if (text !== '' && (text.endsWith('\n') || good[text.length] === '\n' || good[text.length] === '\r'))
      return null;
    return {
      severity: 'error',
      path: null,
      message:
        text === ''
          ? 'The file is empty, though it was not before.'
          : 'The file ends in the middle of a line: it was cut off.',
      line: text.split('\n').length,
      column: 1,
      hint: `Copy ${this.#path} over it, or delete it to start with the defaults.`,
    };
  }

  #text(): string | null {
    try {
      return readCapped(this.#path, MAX_CONFIG_BYTES)?.toString('utf8') ?? null;
    } catch {
      return null;
    }
  }
}
