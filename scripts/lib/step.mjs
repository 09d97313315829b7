// @ts-check
import { say } from './say.mjs';

/**
 * Runs one step of a check or test run and prints a line with its outcome and time; a failing one's output follows.
 * @template {{ ok: boolean, output: string }} T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T | { ok: false, output: string }>}
 */
export async function runStep(name, work) {
  const start = performance.now();
  /** @type {T | { ok: false, output: string }} */
  let result;
  try {
    result = await work();
  } catch (error) {
    result = { ok: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  say(`${result.ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (!result.ok && result.output.trim() !== '') process.stdout.write(`${result.output.trimEnd()}\n`);
  return result;
}
