// @ts-check
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** @typedef {{ code: number, output: string }} Finished */

/** @type {Set<import('node:child_process').ChildProcess>} */
const alive = new Set();

/**
 * Runs a command to its end and returns its exit code and output; it never throws for a failing command.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean, timeoutMs?: number, shell?: boolean }} [options]
 * @returns {Promise<Finished>}
 */
export function run(command, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: options.shell ?? false,
      // A group of its own, so that ending it ends what it started too.
      detached: process.platform !== 'win32',
    });
    alive.add(child);
    let output = '';
    /** @param {string} text */
    const take = (text) => {
      output += text;
      if (options.show) process.stdout.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = options.timeoutMs
      ? setTimeout(() => {
          output += `\n(ended after ${Math.round((options.timeoutMs ?? 0) / 1000)} s)\n`;
          endGroup(child);
        }, options.timeoutMs)
      : undefined;
    /** @param {number} code */
    const finish = (code) => {
      clearTimeout(timer);
      alive.delete(child);
      done({ code, output });
    };
    child.once('error', (error) => {
      output += `${error.message}\n`;
      finish(127);
    });
    child.once('close', (code, signal) => finish(code ?? (signal ? 128 : 1)));
  });
}

/**
 * Runs npm, the same one that started this script where there is one.
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 */
export function npm(args, options = {}) {
  const execpath = process.env.npm_execpath;
  if (execpath?.endsWith('.js')) return run(process.execPath, [execpath, ...args], options);
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const env = { ...(options.env ?? process.env), PATH: path };
  return process.platform === 'win32'
    ? run('npm.cmd', args, { ...options, env, shell: true })
    : run('npm', args, { ...options, env });
}

/**
 * Ends a child that `run` or a detached `spawn` of ours started, with everything below it.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} [signal]
 */
function endGroup(child, signal = 'SIGTERM') {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself between the check and the call.
  }
}

/** Ends every command that is still running, for a script that is being stopped. */
export function endAll() {
  for (const child of alive) endGroup(child);
}
