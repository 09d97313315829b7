import { spawn } from 'node:child_process';

export interface Ended {
  /** Null when it was ended by a signal, as after the time limit. */
  code: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  ms: number;
}

export interface RunOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  timeoutMs: number;
}

/** Runs a program to its end, with nothing on its stdin. Past the limit its whole process group is killed. */
export function runProgram(
  command: readonly [string, ...string[]],
  { env, cwd, timeoutMs }: RunOptions,
): Promise<Ended> {
  const [file, ...args] = command;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const ended: Ended = { code: null, stdout: '', stderr: '', timedOut: false, ms: 0 };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ended.stderr += text;
    });
    const killGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nothing of it is left.
      }
    };
    const timer = setTimeout(() => {
      ended.timedOut = true;
      killGroup();
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      ended.code = code;
      // What it left running would keep its pipes, and this test, open.
      killGroup();
    });
    child.once('close', () => resolve({ ...ended, ms: performance.now() - start }));
  });
}
