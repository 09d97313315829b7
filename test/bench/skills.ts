/** `npm run bench:skills`: what retrieval finds, and what a library of ten thousand skills costs. Prints, asserts nothing. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '../../src/engine/bus.ts';
import { systemClock } from '../../src/engine/platform/clock.ts';
import { silentLogger } from '../../src/engine/platform/logger.ts';
import { SkillBook } from '../../src/engine/skills/index.ts';
import { composeSkill } from '../../src/engine/skills/skill-file.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import { UndoLog } from '../../src/engine/store/undo.ts';
import { DEFAULT_CONFIG } from '../../src/shared/config.ts';
import { NO_EMBEDDER } from '../support/embedder.ts';
import { bankRanking, measure, readBank, readCases } from '../support/retrieval.ts';

const SIZE = Number(process.env.SKILLS ?? 10_000);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Template mode as the original ran it: the first category with a keyword anywhere in the text, else the first one;
 * six general skills, ten of the category, five common mistakes, in path order. Keywords as far as they are known.
 */
function asTheOriginal(text: string): string[] {
  const routes: [string, string[]][] = [
    ['coding', ['code', 'bug', 'test', 'function', 'class', 'api', 'git', 'debug', 'error']],
    ['research', ['research', 'paper', 'source', 'study', 'find']],
    ['data_analysis', ['data', 'table', 'row', 'query', 'csv', 'chart']],
    ['productivity', ['task', 'plan', 'goal', 'schedule', 'meeting']],
    ['security', ['auth', 'token', 'password', 'security', 'secret']],
    ['communication', ['email', 'update', 'reply', 'message', 'write']],
    ['automation', ['bot', 'cron', 'script', 'automate', 'deploy']],
    ['agentic', ['agent', 'memory', 'session', 'mcp', 'tool']],
  ];
  const lower = text.toLowerCase();
  const category = routes.find(([, words]) => words.some((word) => lower.includes(word)))?.[0] ?? 'agentic';
  const of = (name: string, most: number) => bank.filter((skill) => skill.category === name).slice(0, most);
  return [...of('general', 6), ...of(category, 10), ...of('common_mistakes', 5)].map(({ name }) => name);
}

const bank = readBank();

function reportRetrieval(): void {
  const ranking = bankRanking();
  const sets = {
    'tuned (retrieval.json)': readCases('retrieval.json'),
    'held out, everyday work (retrieval-heldout.json)': readCases('retrieval-heldout.json'),
    'held out, own words (retrieval-unseen.json)': readCases('retrieval-unseen.json'),
    'learned from (retrieval-open.json)': readCases('retrieval-open.json'),
    'held out, five languages alike (retrieval-fresh.json)': readCases('retrieval-fresh.json'),
  };
  for (const [name, cases] of Object.entries(sets)) {
    print(
      `${name}: ${cases.length} prompts, ${cases.filter((one) => one.skills.length === 0).length} without a right skill`,
    );
    for (const [way, find] of [
      ['here', (text: string) => ranking.search(text, 6).map(({ id }) => id)],
      ['original', asTheOriginal],
    ] as const) {
      const { recall, precision, falseRate, perIdle } = measure(cases, find);
      print(
        `  ${way.padEnd(9)} recall ${recall.toFixed(3)}  precision ${precision.toFixed(3)}  false injections ${falseRate.toFixed(3)}  skills per prompt without a right one ${perIdle.toFixed(2)}`,
      );
    }
    for (const lang of [...new Set(cases.map((one) => one.lang))].sort()) {
      const { recall, falseRate } = measure(
        cases.filter((one) => one.lang === lang),
        (text) => ranking.search(text, 6).map(({ id }) => id),
      );
      print(`    ${lang}  recall ${recall.toFixed(3)}  false injections ${falseRate.toFixed(3)}`);
    }
  }
}

/** Invented words, so that rarity and posting lists look like those of a real library. */
function* inventedSkills(count: number): Generator<{ name: string; content: string }> {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const own = bank.flatMap(({ description, body }) => `${description} ${body}`.split(/\s+/));
  const word = () =>
    (next(3) === 0 ? own[next(own.length)] : `w${Math.floor(next(200) * (next(200) / 4))}`) as string;
  const words = (n: number) =>
    Array.from({ length: n }, word)
      .join(' ')
      .replace(/[^\w .-]/g, '');
  for (let n = 0; n < count; n += 1)
    yield {
      name: `skill-${n}`,
      content: composeSkill({
        name: `skill-${n}`,
        description: `Use when ${words(15)}`,
        category: 'general',
        triggers: Array.from({ length: 8 }, () => words(3)),
        metadata: {},
        body: words(150),
      }),
    };
}

const share = (times: number[], part: number) =>
  (times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(2);

async function reportScale(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'metaclaw-bench-'));
  const dir = join(root, 'skills');
  for (const { name, content } of inventedSkills(SIZE)) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'SKILL.md'), content);
  }
  const { database } = openDatabase(join(root, 'state.db'));
  const clock = systemClock();
  const open = () =>
    new SkillBook({
      dir,
      bank: join(process.cwd(), 'skills-bank'),
      trash: join(root, 'trash'),
      database,
      clock,
      log: silentLogger(),
      bus: new Bus(),
      undo: new UndoLog({ database, clock }),
      config: () => DEFAULT_CONFIG,
      embedder: NO_EMBEDDER,
    });
  const starts: string[] = [];
  let book = open();
  for (const round of ['first', 'second']) {
    const start = performance.now();
    await book.start();
    const started = performance.now() - start;
    await book.loaded();
    starts.push(
      `${round} ${started.toFixed(0)} ms (all read after ${(performance.now() - start).toFixed(0)} ms)`,
    );
    if (round === 'second') break;
    await book.stop();
    book = open();
  }
  print(`${SIZE} skills beside the bank: start ${starts.join(', ')}`);
  const prompts = [...readCases('retrieval.json'), ...readCases('retrieval-heldout.json')].map(
    ({ text }) => text,
  );
  for (const text of prompts) book.retrieve(text);
  const times = prompts.map((text) => {
    // CPU time: a busy machine lets a call wait, which says nothing about it.
    const start = process.cpuUsage();
    for (let n = 0; n < 5; n += 1) book.retrieve(text);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 5000;
  });
  print(
    `retrieval, CPU time: median ${share(times, 0.5)} ms, p95 ${share(times, 0.95)} ms, worst ${share(times, 1)} ms`,
  );
  const path = join(dir, 'skill-77', 'SKILL.md');
  const before = readFileSync(path, 'utf8');
  const reloads: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    writeFileSync(
      path,
      before.replace(/description: .*/, `description: Use when round ${n} of the bench runs`),
    );
    const start = performance.now();
    book.reload('skill-77');
    reloads.push(performance.now() - start);
  }
  print(`reload of one changed file: median ${share(reloads, 0.5)} ms, worst ${share(reloads, 1)} ms`);
  await book.stop();
  database.close();
  rmSync(root, { recursive: true, force: true });
}

reportRetrieval();
await reportScale();
