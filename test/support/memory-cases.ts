import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type CaseFile, toCaseFile } from '../../src/engine/memory/eval/case-file.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/memory');

/** A file of labelled conversations, with everyday exchanges between those that matter. */
export interface World extends CaseFile {
  /** Name of the file. */
  name: string;
  language: string;
}

type Told = [id: string, user: string, assistant: string];
interface Filler {
  a: string[];
  b: string[];
  exchanges: [string, string][];
}
interface Raw {
  language: string;
  sessions: { fill: { topic: string; before: number; between: number }; turns: Told[] }[];
}

/**
 * Labelled conversations: `tune` is what search may be tuned on, `heldout` is for judging only. Both were written
 * before there was a search of memories.
 */
export function readWorlds(set: 'tune' | 'heldout'): World[] {
  const fillers = read<Record<string, Filler>>('filler.yaml');
  return readdirSync(join(FOLDER, set))
    .sort()
    .map((file) => {
      const raw = read<Raw>(join(set, file));
      const draw = drawing(file.length);
      const sessions = raw.sessions.map(({ fill, turns, ...session }) => {
        const filler = fillers[fill.topic];
        if (!filler) throw new Error(`${file}: no filler of the topic ${fill.topic}`);
        const some = (count: number) => Array.from({ length: count }, () => everyday(filler, draw));
        return {
          ...session,
          turns: [...some(fill.before), ...turns.flatMap((turn) => [turn, ...some(fill.between)])],
        };
      });
      return { ...toCaseFile(file, { ...raw, sessions }), name: `${set}/${file}`, language: raw.language };
    });
}

function read<T>(name: string): T {
  return parse(readFileSync(join(FOLDER, name), 'utf8')) as T;
}

function everyday({ a, b, exchanges }: Filler, draw: (below: number) => number): Told {
  const [user, assistant] = exchanges[draw(exchanges.length)] as [string, string];
  const words: Record<string, string> = {
    '{a}': a[draw(a.length)] as string,
    '{b}': b[draw(b.length)] as string,
  };
  const fill = (text: string) => text.replace(/\{[ab]\}/g, (slot) => words[slot] as string);
  return ['', fill(user), fill(assistant)];
}

/** The same numbers on every run. */
function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
