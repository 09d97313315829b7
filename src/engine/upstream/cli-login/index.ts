import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { findProgram } from '../../platform/programs.ts';
import type { Clock } from '../../ports.ts';
import { ReplyBody, type UpstreamReply } from '../exchange.ts';
import type { UpstreamRequest } from '../route.ts';
import type { ProgramEvent } from './events.ts';
import {
  failureSentence,
  firstWords,
  NOT_INSTALLED,
  type ProgramFailure,
  retryAfter,
  statusOfWords,
} from './failure.ts';
import { programEnv } from './find.ts';
import { PROGRAMS_CHOICE, type Program, type ProgramId, programOf } from './programs.ts';
import { type ProgramPrompt, programPrompt } from './prompt.ts';
import { ChatReply, refusalReply } from './reply.ts';
import { ProgramRun, type RunEnd } from './run.ts';

export interface CliLoginDeps {
  clock: Clock;
  log: Logger;
  /** The user's environment: PATH, HOME and the like. */
  env: Readonly<Record<string, string | undefined>>;
  /** Private folder for working folders and system prompts; one in the system's temporary folder by default. */
  folder?: string | undefined;
  /** Milliseconds without output after which a run is given up. */
  silenceMs?: number | undefined;
}

/** Who is asked. */
export interface ProgramRoute {
  program: ProgramId;
  model: string;
  /** A sign-in token that was stored with MetaClaw; empty: the program's own sign-in. */
  apiKey: string;
}

const CHAT_PATH = '/chat/completions';
const SILENCE_MS = 10 * 60_000;
/** Each run is a process of some hundred megabytes. */
const MAX_RUNS = 8;
const BUSY_SECONDS = 5;
/** How long a program may tidy up after its answer. */
const TIDY_MS = 5_000;
const RUN_PREFIX = 'run-';
const MODEL_NAME = /^[A-Za-z0-9][\w.:/@[\]-]*$/;

/**
 * Chat requests that a vendor's program answers with the sign-in it keeps on this computer. It runs as its vendor made
 * it, with all of its own rules and none of its tools, and is told everything by file, environment and standard input.
 */
export class CliLogin {
  readonly #deps: CliLoginDeps;
  readonly #runs = new Map<Turn, string>();
  #folder: Promise<string> | null = null;

  constructor(deps: CliLoginDeps) {
    this.#deps = deps;
  }

  /**
   * Answers `POST /chat/completions` as an OpenAI-compatible service would, failures included. Rejects with BAD_INPUT
   * or NOT_TRANSLATABLE for requests that no program can answer, and with CANCELLED when the caller leaves.
   */
  async send(route: ProgramRoute, request: UpstreamRequest): Promise<UpstreamReply> {
    const program = programOf(route.program);
    const isChat = request.method === 'POST' && request.path.split('?')[0] === CHAT_PATH;
    if (!isChat || !(request.body instanceof Uint8Array))
      return refused(404, `${program.title} on this computer answers chat requests only.`, 'not_found');
    const prompt = programPrompt(request.body, program.title);
    const model = route.model === PROGRAMS_CHOICE ? null : route.model;
    if (model !== null && !MODEL_NAME.test(model))
      return refused(404, `${JSON.stringify(model)} is no name of a model.`, 'model_not_found');
    const path = await findProgram(program.binary, this.#deps.env);
    if (path === null)
      return refused(
        404,
        `${program.title} is not installed on this computer: there is no \`${program.binary}\` on PATH. ${program.install}, then sign in.`,
        NOT_INSTALLED,
      );
    if (this.#runs.size >= MAX_RUNS)
      return refused(429, `${MAX_RUNS} answers of programs are under way already.`, null, BUSY_SECONDS);
    const { signal } = request;
    const turn = new Turn(this.#deps, program, route.model, prompt);
    // It counts from here on, and `close` finds it.
    this.#runs.set(turn, '');
    try {
      const root = await this.#root();
      const folder = await this.#workingFolder(root, program);
      const own = await mkdtemp(join(root, RUN_PREFIX));
      this.#runs.set(turn, own);
      const systemFile = join(own, 'system.md');
      await writeFile(systemFile, prompt.system, { mode: 0o600 });
      if (signal?.aborted) throw cancelled();
      const files = { systemFile, model };
      const env = {
        ...programEnv(program, this.#deps.env, path),
        ...program.env(files),
        ...(route.apiKey === '' ? {} : program.tokenEnv(route.apiKey)),
      };
      const onAbort = () => turn.leave();
      signal?.addEventListener('abort', onAbort, { once: true });
      turn.start({ path, args: program.args(files), env, folder }, () => {
        signal?.removeEventListener('abort', onAbort);
        void this.#forget(turn);
      });
    } catch (error) {
      await this.#forget(turn);
      if (error instanceof AppError) throw error;
      throw new AppError(
        'UPSTREAM_UNREACHABLE',
        `${program.title} could not be started: ${messageOf(error)}`,
        {
          hint: 'Check that the state folder is writable and that the disk is not full.',
          cause: error,
        },
      );
    }
    return turn.answer;
  }

  /** Ends every run at once and removes what they needed. */
  async close(): Promise<void> {
    const turns = [...this.#runs.keys()];
    for (const turn of turns) turn.leave(true);
    await Promise.all(turns.map((turn) => this.#forget(turn)));
    if (this.#deps.folder === undefined && this.#folder) {
      const folder = await this.#folder.catch(() => null);
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
    this.#folder = null;
  }

  async #forget(turn: Turn): Promise<void> {
    const own = this.#runs.get(turn);
    this.#runs.delete(turn);
    if (!own) return;
    await rm(own, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) =>
      this.#deps.log.warn({ err: error, folder: own }, 'a private folder could not be removed'),
    );
  }

  #root(): Promise<string> {
    this.#folder ??= this.#makeRoot().catch((error: unknown) => {
      this.#folder = null;
      throw error;
    });
    return this.#folder;
  }

  /** The state folder belongs to one engine, so whatever an earlier one left there is nobody's. */
  async #makeRoot(): Promise<string> {
    const { folder } = this.#deps;
    if (folder === undefined) return mkdtemp(join(tmpdir(), 'metaclaw-programs-'));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const left = (await readdir(folder)).filter((name) => name.startsWith(RUN_PREFIX));
    await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
    return folder;
  }

  /** One folder per program and not per run: programs keep notes about each folder that they ran in. */
  async #workingFolder(root: string, program: Program): Promise<string> {
    const folder = join(root, program.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(program.folder)) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o600 });
    }
    return folder;
  }
}

/** One request on its way through a program. */
class Turn {
  readonly #deps: CliLoginDeps;
  readonly #program: Program;
  readonly #prompt: ProgramPrompt;
  readonly #chat: ChatReply;
  readonly #reader: ReturnType<Program['reader']>;
  /** The head of the answer, as soon as it is known how the program takes the request. */
  readonly answer: Promise<UpstreamReply>;
  #resolve: (reply: UpstreamReply) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #run: ProgramRun | null = null;
  #told = false;
  #paused = false;
  #over = false;
  #noise = '';
  #silence: () => void = () => {};

  constructor(deps: CliLoginDeps, program: Program, model: string, prompt: ProgramPrompt) {
    this.#deps = deps;
    this.#program = program;
    this.#prompt = prompt;
    this.#reader = program.reader();
    const { stream, wantUsage } = prompt;
    const created = Math.floor(deps.clock.now() / 1000);
    this.#chat = new ChatReply(
      { id: `chatcmpl-${randomUUID()}`, created, model, stream, wantUsage },
      new ReplyBody(),
      {
        pause: () => this.#pause(true),
        resume: () => this.#pause(false),
        abort: () => this.leave(),
      },
    );
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever started the turn may have left before it is awaited.
    this.answer.catch(() => {});
  }

  start(
    run: { path: string; args: readonly string[]; env: Record<string, string>; folder: string },
    onEnded: () => void,
  ): void {
    if (this.#over) throw cancelled();
    const input = { ...run, input: this.#prompt.prompt, clock: this.#deps.clock };
    this.#watchSilence();
    this.#run = new ProgramRun(input, {
      line: (line) => this.#line(line),
      ended: (how) => {
        this.#silence();
        this.#ended(how);
        onEnded();
      },
    });
  }

  /** The caller left, or the engine stops. */
  leave(atOnce = false): void {
    if (atOnce) this.#run?.killNow();
    else this.#run?.kill();
    this.#pause(false);
    if (this.#over) return;
    this.#over = true;
    const error = cancelled();
    this.#reject(error);
    this.#chat.cut(error);
  }

  #pause(on: boolean): void {
    this.#paused = on;
    if (on) this.#run?.pause();
    else this.#run?.resume();
  }

  #line(line: string): void {
    this.#silence();
    this.#watchSilence();
    if (this.#over || line === '') return;
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      // Warnings of the program's own stand between its events.
      this.#noise = `${this.#noise}\n${line}`.slice(-2000);
      return;
    }
    for (const event of this.#reader.read(json)) this.#take(event);
  }

  #take(event: ProgramEvent): void {
    if (this.#over) return;
    switch (event.kind) {
      case 'begun':
        if (this.#prompt.stream) this.#tell();
        return;
      case 'text':
        this.#chat.text(event.text);
        if (this.#prompt.stream) this.#tell();
        return;
      case 'done':
        this.#over = true;
        this.#chat.done(event.usage, event.finish);
        this.#tell();
        this.#deps.clock.after(TIDY_MS, () => this.#run?.kill());
        return;
      case 'failed':
        this.#fail(event.failure);
    }
  }

  /** A program that ends without saying that its answer is whole has not given one, whatever it wrote. */
  #ended(how: RunEnd): void {
    if (this.#over) return;
    const said = firstWords(how.stderr) || firstWords(this.#noise);
    if (how.kind === 'not-started') {
      this.#fail({ status: 502, message: `it could not be started (${how.message})` });
      return;
    }
    const end = how.signal === null ? `exit code ${how.code}` : `signal ${how.signal}`;
    const message = said === '' ? `it ended without an answer (${end})` : `${said} (${end})`;
    this.#fail({ status: statusOfWords(`${how.stderr}\n${this.#noise}`), message });
  }

  #fail(failure: ProgramFailure): void {
    this.#over = true;
    const sentence = failureSentence(this.#program, failure);
    this.#deps.log.warn({ program: this.#program.id, status: failure.status }, sentence);
    this.#run?.kill();
    if (this.#told) {
      this.#chat.fail(new Error(sentence), failure.status);
      return;
    }
    const wait = failure.status === 429 ? retryAfter(failure, this.#deps.clock.now()) : null;
    this.#resolve(refused(failure.status, sentence, null, wait));
    this.#pause(false);
  }

  #tell(): void {
    if (this.#told) return;
    this.#told = true;
    this.#resolve(this.#chat.reply);
  }

  #watchSilence(): void {
    const limit = this.#deps.silenceMs ?? SILENCE_MS;
    this.#silence = this.#deps.clock.after(limit, () => {
      // A slow reader keeps the program waiting, not the other way round.
      if (this.#paused) this.#watchSilence();
      else if (!this.#over)
        this.#fail({ status: 504, message: `it said nothing for ${Math.round(limit / 1000)} seconds` });
      else this.#run?.kill();
    });
  }
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function refused(
  status: number,
  message: string,
  code: string | null,
  retryAfterSeconds: number | null = null,
): UpstreamReply {
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return refusalReply(new ReplyBody(), status, { message, type, code }, retryAfterSeconds);
}

function cancelled(): AppError {
  return new AppError('CANCELLED', 'The request was cancelled.');
}
