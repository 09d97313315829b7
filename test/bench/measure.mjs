// @ts-check
// Processes with what they use, and statistics of ratios.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** @typedef {{ pid: number, port: number, stop: () => Promise<void> }} Target */

/**
 * Starts a program of Node and waits for the first line that is a port, or for `port()` to give one.
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, port?: (line: string) => number | null }} [options]
 * @returns {Promise<Target>}
 */
export async function startProgram(args, options = {}) {
  const find = options.port ?? ((line) => (/^\d+$/.test(line) ? Number(line) : null));
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((done) => child.once('exit', done));
  const port = await new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      for (const line of text.split('\n')) {
        const found = find(line.trim());
        if (found !== null) done(found);
      }
    });
    child.once('exit', (code) => fail(new Error(`${args[0]} ended with ${code} before it listened`)));
  });
  return {
    pid: child.pid ?? 0,
    port,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/**
 * CPU time of a process and its living threads in microseconds; Linux only.
 * @param {number} pid
 */
export function cpuMicros(pid) {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const [ns] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ');
    return sum + Number(ns) / 1000;
  }, 0);
}

/**
 * Memory in use in MB.
 * @param {number} pid
 */
export function memoryMb(pid) {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

/**
 * @param {readonly number[]} values
 * @param {number} share 0 to 1
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Median with its bootstrap 95 % interval.
 * @param {readonly number[]} values
 */
export function medianOf(values) {
  const medians = Array.from({ length: 400 }, () =>
    quantile(
      values.map(() => values[Math.floor(Math.random() * values.length)] ?? 0),
      0.5,
    ),
  );
  return { median: quantile(values, 0.5), low: quantile(medians, 0.025), high: quantile(medians, 0.975) };
}
