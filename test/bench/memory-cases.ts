/** `npm run bench:memory-cases`: what enters turns of the labelled conversations. Prints, asserts nothing. */
import { shareOf } from '../../src/engine/memory/eval/measure.ts';
import { DEFAULT_SETTINGS } from '../../src/engine/memory/eval/settings.ts';
import { readWorlds } from '../support/memory-cases.ts';
import { type Tried, tryAll } from '../support/memory-world.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function percent(hits: number, of: number): string {
  const share = shareOf(hits, of);
  if (share === null) return '-'.padStart(18);
  const one = (value: number) => (value * 100).toFixed(1);
  return `${one(share.value)} (${one(share.low)}–${one(share.high)})`.padStart(18);
}

function row(name: string, tried: readonly Tried[]): void {
  const needed = tried.reduce((sum, { result }) => sum + result.needed, 0);
  const found = tried.reduce((sum, { result }) => sum + result.found, 0);
  const idle = tried.filter((one) => one.case.nothing);
  const forbidding = tried.filter((one) => one.case.not.length > 0 && !one.case.nothing);
  const mean = (pick: (one: Tried) => number) =>
    (tried.reduce((sum, one) => sum + pick(one), 0) / Math.max(1, tried.length)).toFixed(1);
  print(
    [
      name.padEnd(14),
      String(tried.length).padStart(5),
      percent(found, needed),
      percent(idle.filter(({ result }) => result.isWrong).length, idle.length),
      percent(forbidding.filter(({ result }) => result.isWrong).length, forbidding.length),
      mean(({ result }) => result.units).padStart(6),
      mean(({ result }) => result.tokens).padStart(7),
    ].join(' '),
  );
}

for (const set of ['tune', 'heldout'] as const) {
  if (process.env.SET && process.env.SET !== set) continue;
  const tried = await tryAll(readWorlds(set), DEFAULT_SETTINGS);
  print(`\n${set}: ${JSON.stringify(DEFAULT_SETTINGS)}`);
  print(
    `${'% (95 %)'.padEnd(14)} cases ${'evidence in'.padStart(18)} ${'false injections'.padStart(18)} ${'outdated in'.padStart(18)}  units  tokens`,
  );
  row('all', tried);
  for (const by of ['language', 'kind'] as const) {
    const keyOf = (one: Tried) => (by === 'language' ? one.language : one.case.kind);
    for (const key of new Set(tried.map(keyOf)))
      row(
        key,
        tried.filter((one) => keyOf(one) === key),
      );
  }
  if (process.env.SHOW)
    for (const { case: one, language, result, entered } of tried)
      if (result.found < result.needed || result.isWrong)
        print(
          `${result.isWrong ? 'WRONG' : 'MISSED'} ${language} ${one.kind}: ${one.ask} [${one.want.join(' ')}]\n${entered.map(({ names, score, body }) => `    ${score} ${names} ${body}`).join('\n')}`,
        );
}
