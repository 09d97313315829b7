// @ts-check
// `npm run bench`: the built proxy beside a bare pass-through, in one run. Every number that matters is a ratio of the
// two in the same round, because a busy machine changes both alike. Needs Linux, for CPU times of processes.
// Arguments: rounds (30), and a file for the results as JSON.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { ensureBuild, ensureDependencies } from '../../scripts/lib/setup.mjs';
import { cpuMicros, medianOf, memoryMb, quantile, startProgram } from './measure.mjs';
import { chatBody } from './payloads.mjs';

/** @typedef {import('./measure.mjs').Target} Target */
/** @typedef {{ name: string, target: Target, pool: Pool, headers: Record<string, string> }} Lane */

const here = fileURLToPath(new URL('.', import.meta.url));
const cli = join(here, '..', '..', 'out', 'main', 'cli.cjs');
const rounds = Number(process.argv[2] ?? 30);
const CONNECTIONS = 8;
const CASES = /** @type {const} */ ([
  ['small', false, 40],
  ['small', true, 40],
  ['big', false, 12],
  ['big', true, 12],
]);

let turn = 0;

/**
 * @param {Lane} lane
 * @param {'small' | 'big'} kind
 * @param {boolean} stream
 */
async function request({ name, pool, headers }, kind, stream) {
  turn += 1;
  const body = chatBody(kind, { stream, turn });
  const start = performance.now();
  const reply = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
  const firstMs = performance.now() - start;
  const { length } = Buffer.from(await reply.body.arrayBuffer());
  if (reply.statusCode !== 200 || length < 1000) throw new Error(`${name} answered ${reply.statusCode}`);
  return firstMs;
}

/**
 * One block of requests: CPU microseconds a request.
 * @param {Lane} lane
 * @param {(typeof CASES)[number]} kase
 */
async function block(lane, [kind, stream, per]) {
  const before = cpuMicros(lane.target.pid);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let n = 0; n < per; n += 1) await request(lane, kind, stream);
    }),
  );
  return (cpuMicros(lane.target.pid) - before) / (CONNECTIONS * per);
}

/**
 * @param {string} name
 * @param {string} home
 * @param {number} upstreamPort
 */
function startProxy(name, home, upstreamPort) {
  const folder = join(home, name.replaceAll(' ', '-'));
  return startProgram([cli, 'start', '--port', '0'], {
    env: {
      METACLAW_HOME: folder,
      METACLAW_LLM_API_BASE: `http://127.0.0.1:${upstreamPort}/v1`,
      METACLAW_LLM_MODEL_ID: 'bench-model',
      METACLAW_SKILLS_AUTO_EVOLVE: 'false',
    },
    port: (line) => Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? Number.NaN) || null,
  });
}

await ensureDependencies();
await ensureBuild();
const home = mkdtempSync(join(tmpdir(), 'metaclaw-bench-'));
/** @type {Target[]} */
const started = [];
/** @type {Lane[]} */
const lanes = [];
try {
  const upstream = await startProgram([join(here, 'upstream.mjs')]);
  started.push(upstream);
  const reference = await startProgram([join(here, 'reference.mjs'), `http://127.0.0.1:${upstream.port}`]);
  const proxy = await startProxy('proxy', home, upstream.port);
  started.push(reference, proxy);
  for (const [name, target, headers] of /** @type {const} */ ([
    ['bare', reference, {}],
    ['private', proxy, { 'x-metaclaw-private': 'on' }],
    ['metaclaw', proxy, {}],
  ]))
    lanes.push({
      name,
      target,
      headers: { 'content-type': 'application/json', ...headers },
      pool: new Pool(`http://127.0.0.1:${target.port}`, { connections: CONNECTIONS }),
    });
  const results = [];
  for (const kase of CASES) {
    /** @type {Record<string, number[]>} */
    const cpu = Object.fromEntries(lanes.map(({ name }) => [name, []]));
    /** @type {Record<string, number[]>} */
    const first = Object.fromEntries(lanes.map(({ name }) => [name, []]));
    for (let round = -3; round < rounds; round += 1)
      for (const lane of [...lanes].sort(() => Math.random() - 0.5)) {
        const used = await block(lane, kase);
        if (round >= 0) cpu[lane.name]?.push(used);
      }
    for (let n = 0; n < rounds * 4; n += 1)
      for (const lane of lanes) first[lane.name]?.push(await request(lane, kase[0], kase[1]));
    const bare = cpu.bare ?? [];
    for (const { name } of lanes) {
      const ratio = medianOf((cpu[name] ?? []).map((value, n) => value / (bare[n] ?? Number.NaN)));
      results.push({
        request: `${kase[0]}${kase[1] ? ' stream' : ''}`,
        lane: name,
        cpuMicros: Math.round(quantile(cpu[name] ?? [], 0.5)),
        ratio: Number(ratio.median.toFixed(2)),
        low: Number(ratio.low.toFixed(2)),
        high: Number(ratio.high.toFixed(2)),
        firstByteMs: Number(quantile(first[name] ?? [], 0.5).toFixed(2)),
        firstByteP99Ms: Number(quantile(first[name] ?? [], 0.99).toFixed(2)),
      });
    }
  }
  console.table(results);
  process.stdout.write(
    `memory: bare ${memoryMb(reference.pid).toFixed(0)} MB, metaclaw ${memoryMb(proxy.pid).toFixed(0)} MB; ` +
      `${turn} requests; Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(2)}\n`,
  );
  if (process.argv[3]) writeFileSync(process.argv[3], `${JSON.stringify(results, null, 1)}\n`);
} finally {
  await Promise.all(lanes.map(({ pool }) => pool.close()));
  for (const target of started.reverse()) await target.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
