import { z } from 'zod';
import type { LearnedQuirk } from '../../shared/contract.ts';
import type { Logger } from '../platform/logger.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import { type Lesson, lessonShape } from './lesson.ts';
import { withoutRepeats } from './presets.ts';
import type { Route } from './route.ts';

const storeShape = z.record(z.string(), lessonShape);
const KEY = 'upstream.quirks';
const MOST_MODELS = 300;

/** What the providers' refusals taught, by host and model, over restarts. */
export class LearnedQuirks {
  readonly #database: Database | null;
  readonly #log: Logger;
  #known: Record<string, Lesson> | null = null;

  constructor(database: Database | null, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  of(baseUrl: string, model: string): Lesson {
    return this.#all()[keyOf(baseUrl, model)] ?? {};
  }

  add(route: Pick<Route, 'baseUrl' | 'model'>, lesson: Lesson): void {
    const key = keyOf(route.baseUrl, route.model);
    const all = this.#all();
    const before = all[key] ?? {};
    delete all[key];
    all[key] = {
      ...before,
      ...lesson,
      ...joined(before, lesson),
    };
    for (const oldest of Object.keys(all).slice(0, -MOST_MODELS)) delete all[oldest];
    this.#log.info({ model: key, lesson }, 'a refusal taught what this provider does not take');
    this.#save();
  }

  /** The newest first. */
  list(): LearnedQuirk[] {
    return Object.entries(this.#all())
      .reverse()
      .map(([key, lesson]) => {
        const space = key.indexOf(' ');
        return { host: key.slice(0, space), model: key.slice(space + 1), effects: effectsOf(lesson) };
      });
  }

  /** Forgets what was learned of a host's models, or of one of them; null: of all. Returns of how many. */
  forget(host: string | null, model: string | null): number {
    const all = this.#all();
    const gone = this.list().filter(
      (known) => (host === null || known.host === host) && (model === null || known.model === model),
    );
    for (const known of gone) delete all[`${known.host} ${known.model}`];
    if (gone.length > 0) this.#save();
    return gone.length;
  }

  #save(): void {
    if (!this.#database) return;
    try {
      writeSetting(this.#database, KEY, this.#all());
    } catch (error) {
      this.#log.warn({ err: error }, 'what a refusal taught could not be kept');
    }
  }

  #all(): Record<string, Lesson> {
    this.#known ??= this.#database ? { ...readSetting(this.#database, KEY, storeShape, {}) } : {};
    return this.#known;
  }
}

const LISTS = ['refusedFields', 'refusedFormats', 'refusedSchemaWords'] as const;

/** What one lesson adds to the lists of another. */
function joined(before: Lesson, lesson: Lesson): Partial<Lesson> {
  const lists = LISTS.filter((name) => lesson[name] !== undefined);
  return Object.fromEntries(lists.map((name) => [name, withoutRepeats(before[name], lesson[name])]));
}

/** A lesson as its quirks, each `name=value`. */
function effectsOf(lesson: Lesson): string[] {
  return Object.entries(lesson)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`);
}

function keyOf(baseUrl: string, model: string): string {
  return `${new URL(baseUrl).host} ${model}`;
}
