/**
 * `npm run bench:memory -- [--data FILE]`: what search finds of a file in the format of LoCoMo (also METACLAW_LOCOMO),
 * and what search and capture cost in a store of 100,000 turns (TURNS). Prints, asserts nothing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MemoryIndex } from '../../src/engine/memory/search/index.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import type { MemoryScope } from '../../src/shared/memory.ts';
import { LOCOMO_CATEGORIES, type LocomoConversation, readLocomo } from '../support/locomo.ts';
import { MemoryLab } from '../support/memory.ts';

const MOST = 60;
const WORD_BUDGET = 400;
const TURNS = Number(process.env.TURNS ?? 100_000);
const { values: args } = parseArgs({ options: { data: { type: 'string' } } });
const data = args.data ?? process.env.METACLAW_LOCOMO;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Outcome {
  category: number;
  /** Shares of the evidence. */
  at5: number;
  at10: number;
  at20: number;
  inBudget: number;
  ms: number;
}

/** Imports each conversation into a scope of its own, as an export of ours, and asks its questions. */
async function ask(
  lab: MemoryLab,
  conversations: readonly LocomoConversation[],
  mode: 'keyword' | 'hybrid',
): Promise<Outcome[]> {
  const { config } = lab;
  lab.config = { ...config, memory: { ...config.memory, retrieval_mode: mode } };
  const outcomes: Outcome[] = [];
  for (const [number, { turns, questions }] of conversations.entries()) {
    const scope: MemoryScope = { user: `reader ${number}`, workspace: '', agent: '' };
    const words = turns.map(
      ({ speaker, saidAt, text }) => `${speaker} (${saidAt.slice(0, 10)}): ${text}`.split(/\s+/).length,
    );
    const places = new Map(turns.map(({ session, text }, at) => [`${session}\n${text}`, at]));
    for (const { text, category, evidence } of questions) {
      const start = performance.now();
      const hits = await lab.book.search({ text, scope, limit: MOST, turns: true });
      const ms = performance.now() - start;
      const ranked = hits.flatMap((hit) =>
        hit.type === 'turn' ? (places.get(`${hit.turn.sessionId}\n${hit.turn.text}`) ?? []) : [],
      );
      const share = (found: readonly number[]) =>
        evidence.filter((place) => found.includes(place)).length / evidence.length;
      let spent = 0;
      const affordable = ranked.findIndex((place, at) => {
        spent += words[place] ?? 0;
        return at > 0 && spent > WORD_BUDGET;
      });
      outcomes.push({
        category,
        at5: share(ranked.slice(0, 5)),
        at10: share(ranked.slice(0, 10)),
        at20: share(ranked.slice(0, 20)),
        inBudget: share(affordable < 0 ? ranked : ranked.slice(0, affordable)),
        ms,
      });
    }
  }
  return outcomes;
}

async function importAll(lab: MemoryLab, conversations: readonly LocomoConversation[]): Promise<void> {
  const lines = conversations.flatMap(({ turns }, number) =>
    turns.map((turn, at) => ({
      type: 'turn',
      key: `${number}:${at}`,
      scope: { user: `reader ${number}`, workspace: '', agent: '' },
      sessionId: turn.session,
      turnId: null,
      role: turn.role,
      speaker: turn.speaker,
      text: turn.text,
      saidAt: turn.saidAt,
    })),
  );
  const path = join(lab.root, 'conversations.jsonl');
  writeFileSync(
    path,
    [{ format: 'metaclaw-memory', version: 1 }, ...lines].map((line) => JSON.stringify(line)).join('\n'),
  );
  const { turns, skipped } = await lab.book.import({ path, format: 'auto', dryRun: false });
  if (skipped.length > 0) print(`${skipped.length} lines were skipped: ${skipped[0]?.reason}`);
  print(`${conversations.length} conversations, ${turns} turns`);
}

function table(name: string, outcomes: readonly Outcome[]): void {
  const row = (label: string, of: readonly Outcome[]) => {
    const mean = (pick: (one: Outcome) => number) =>
      ((of.reduce((sum, one) => sum + pick(one), 0) / Math.max(1, of.length)) * 100).toFixed(1).padStart(6);
    print(
      [
        label.padEnd(18),
        String(of.length).padStart(9),
        mean(({ at5 }) => at5),
        mean(({ at10 }) => at10),
        mean(({ at20 }) => at20),
        mean(({ inBudget }) => inBudget).padStart(9),
      ].join(' '),
    );
  };
  print(`\n${name.padEnd(19)}questions    r@5   r@10   r@20 400 words`);
  row('all', outcomes);
  for (const [category, label] of Object.entries(LOCOMO_CATEGORIES))
    row(
      label,
      outcomes.filter((one) => one.category === Number(category)),
    );
  print(
    times(
      'a search',
      outcomes.map(({ ms }) => ms),
    ),
  );
}

function times(what: string, all: readonly number[]): string {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  return `${what}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${(sorted.at(-1) ?? 0).toFixed(1)} ms`;
}

/** Made-up words, as frequent as those of a language are: the nth with a share of about 1/n. */
function babble(seed: number): { sentence: (words: number) => string } {
  let state = seed;
  const draw = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const word = () => {
    let rank = Math.floor(20_000 ** draw() + 8 * draw());
    let text = '';
    do {
      text += `${'bdfgklmnprstvz'[rank % 14]}${'aeiou'[Math.floor(rank / 14) % 5]}`;
      rank = Math.floor(rank / 70);
    } while (rank > 0);
    return `${text}x`;
  };
  return { sentence: (words) => `${Array.from({ length: words }, word).join(' ')}.` };
}

/** What a store of many turns costs, in one scope or spread over many. */
function cost(scopes: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'metaclaw-bench-'));
  const path = join(folder, 'metaclaw.db');
  const filled = openDatabase(path).database;
  const talk = babble(7);
  const index = new MemoryIndex(filled);
  let id = 0;
  const rows = (count: number, scope: number) =>
    Array.from({ length: count }, () => {
      id += 1;
      const speaker = id % 2 === 0 ? ('assistant' as const) : ('user' as const);
      return {
        id,
        scope,
        session_id: `session ${Math.floor(id / 40)}`,
        role: speaker,
        speaker,
        text: talk.sentence(speaker === 'user' ? 14 : 60),
        said_at: '2026-03-01T09:00:00Z',
      };
    });
  const start = performance.now();
  for (let at = 0; at * 500 < TURNS; at += 1) filled.tx(() => index.indexTurns(rows(500, 1 + (at % scopes))));
  const built = performance.now() - start;
  filled.close();
  const began = performance.now();
  const { database } = openDatabase(path);
  const cold = new MemoryIndex(database);
  const opened = performance.now() - began;
  const search = (scope: number) => {
    const asked = performance.now();
    cold.search({
      text: `What about ${talk.sentence(6)}`,
      scopeIds: [scope],
      limit: 20,
      mode: 'keyword',
      queryVector: null,
      nowMs: Date.parse('2026-06-01T00:00:00Z'),
      types: ['turn', 'unit'],
    });
    return performance.now() - asked;
  };
  const searches = Array.from({ length: 500 }, (_, at) => search(1 + (at % scopes)));
  const captures = Array.from({ length: 500 }, () => {
    const said = rows(2, 1);
    const asked = performance.now();
    database.tx(() => cold.indexTurns(said));
    return performance.now() - asked;
  });
  print(
    `\n${TURNS} turns in ${scopes === 1 ? 'one scope' : `${scopes} scopes`}: indexed in ${(built / 1000).toFixed(1)} s`,
  );
  print(`opened in ${opened.toFixed(1)} ms; the first search took ${(searches[0] ?? 0).toFixed(1)} ms`);
  print(times('a search', searches));
  print(times('capture of a turn', captures));
  database.close();
  rmSync(folder, { recursive: true, force: true });
}

if (data === undefined)
  print('No conversations to ask about: name a file in the format of LoCoMo with --data FILE.');
else {
  const conversations = readLocomo(data);
  const lab = new MemoryLab();
  await importAll(lab, conversations);
  for (const mode of ['keyword', 'hybrid'] as const) table(mode, await ask(lab, conversations, mode));
  await lab.close();
}
cost(180);
cost(1);
