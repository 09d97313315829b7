import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { normalizeSpawnCommand, x } from 'tinyexec';
import { messageOf } from '../../../shared/errors.ts';
import type { Clock } from '../../ports.ts';

export interface RunInput {
  /** Absolute path of the program. */
  path: string;
  args: readonly string[];
  env: Record<string, string>;
  /** Working folder. */
  folder: string;
  /** Goes to standard input, whole. */
  input: string;
  clock: Clock;
}

/** What a run tells; each line of output without its end, `ended` exactly once and last. */
export interface RunListener {
  line(text: string): void;
  ended(how: RunEnd): void;
}

/** How a run ended, with the last of what it wrote to standard error. */
export type RunEnd = { stderr: string } & (
  | { kind: 'exit'; code: number | null; signal: string | null }
  | { kind: 'not-started'; message: string }
);

const MAX_STDERR = 8_000;
/** Longest line: a whole answer stands in one. */
const MAX_LINE = 64 * 1024 * 1024;
/** How long a program may take to end by itself when it is asked to. */
const GRACE_MS = 400;

/** One run of a program, in a process group of its own, so that nothing that it started outlives it. */
export class ProgramRun {
  readonly #child: ChildProcess | null;
  readonly #clock: Clock;
  readonly #listener: RunListener;
  #rest = '';
  #stderr = '';
  #over = false;

  constructor(input: RunInput, listener: RunListener) {
    this.#clock = input.clock;
    this.#listener = listener;
    this.#child = this.#start(input);
  }

  /** Stops reading until `resume`; the program waits when its pipe is full. */
  pause(): void {
    this.#child?.stdout?.pause();
  }

  resume(): void {
    this.#child?.stdout?.resume();
  }

  /** Asks the program and all that it started to end, and ends them when they do not. */
  kill(): void {
    if (this.#over) return;
    this.#signal('SIGTERM');
    this.#clock.after(GRACE_MS, () => {
      if (!this.#over) this.#signal('SIGKILL');
    });
  }

  /** At once, for an engine that stops. */
  killNow(): void {
    if (!this.#over) this.#signal('SIGKILL');
  }

  #start({ path, args, env, folder, input }: RunInput): ChildProcess | null {
    let child: ChildProcess;
    try {
      const normal = normalizeSpawnCommand(path, args, {
        cwd: folder,
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      child = spawn(normal.command, normal.args, normal.options);
    } catch (error) {
      queueMicrotask(() => this.#end({ kind: 'not-started', message: messageOf(error), stderr: '' }));
      return null;
    }
    const decoder = new StringDecoder('utf8');
    child.stdout?.on('data', (chunk: Buffer) => this.#read(decoder.write(chunk)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR);
    });
    // A program that does not read its input to the end says why in its output or by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    child.on('error', (error) =>
      this.#end({ kind: 'not-started', message: error.message, stderr: this.#stderr }),
    );
    child.on('exit', () => {
      // What it started may still hold the pipes, which would keep them from closing.
      this.#signal('SIGKILL');
    });
    child.on('close', (code, signal) => {
      if (this.#rest !== '') this.#line(this.#rest);
      this.#end({ kind: 'exit', code, signal, stderr: this.#stderr });
    });
    return child;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
    if (this.#rest.length > MAX_LINE) this.killNow();
  }

  #line(line: string): void {
    if (!this.#over) this.#listener.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  #end(how: RunEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#rest = '';
    this.#listener.ended(how);
  }

  #signal(name: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    if (process.platform === 'win32') {
      x('taskkill', ['/PID', String(pid), '/T', '/F']).then(undefined, () => {});
      return;
    }
    try {
      process.kill(-pid, name);
    } catch {
      // Nobody of the group is left.
    }
  }
}
