// @ts-check
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StepError, say } from './say.mjs';

/**
 * Does one piece of work at a time across processes: two `npm start` at once must not both install or build.
 * A lock whose owner has died, or has not touched it for a while (its pid may be another's by now), is taken over.
 * @template T
 * @param {string} file
 * @param {string} what shown when it has to wait
 * @param {() => Promise<T>} work
 * @param {number} [limitMs]
 * @returns {Promise<T>}
 */
export async function withLock(file, what, work, limitMs = 10 * 60_000) {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = Date.now() + limitMs;
  let told = false;
  while (!(await take(file))) {
    if (Date.now() > deadline) throw new StepError(`${what}: another process has held ${file} for too long`);
    if (!told) say(`${what}: waiting for another process that is doing it`);
    told = true;
    await wait(200);
  }
  const beat = setInterval(() => touch(file), 5_000);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(file, { force: true });
  }
}

const staleMs = 60_000;

/** @param {string} file */
async function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    // Another process may just be removing the dead owner's lock and hit ours: ours only if it still stands.
    await wait(30);
    return readOwner(file) === process.pid;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const owner = readOwner(file);
  if (age > staleMs || (owner !== undefined && !isAlive(owner))) rmSync(file, { force: true });
  return false;
}

/** @param {string} file */
function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Removed by hand meanwhile; the work goes on.
  }
}

/** @param {string} file */
function readOwner(file) {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
