import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { agentName } from '../../shared/agents.ts';
import type { Config } from '../../shared/config.ts';
import type { AgentId, AgentPlan, AgentSummary, AgentVerification } from '../../shared/connections.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import { askProgram, type Env, findProgram, runProgram, searchPath, userHome } from '../platform/programs.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { Adapter, Place, Run, Target } from './adapter.ts';
import { claudeCode } from './adapters/claude-code.ts';
import { codex } from './adapters/codex.ts';
import { hermes } from './adapters/hermes.ts';
import { ironclaw } from './adapters/ironclaw.ts';
import { openclaw } from './adapters/openclaw.ts';
import { opencode } from './adapters/opencode.ts';
import { picoclaw } from './adapters/picoclaw.ts';
import { zeroclaw } from './adapters/zeroclaw.ts';
import { type ConnectedFile, Connections } from './connections.ts';
import { drifted, readSettings, tracesOf } from './edit/index.ts';
import { readFileText } from './file-text.ts';
import { diffOf, digest, type FileEdit, patchOf, prepare, takeBack, write } from './prepared.ts';

export interface AgentBookDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  env: Env;
  config: () => Config;
  /** Folder in the state folder that keeps what files were before. */
  backups: string;
  /** Base URL of the running proxy, without a path; where it does not run: where it will. */
  base: () => string;
  /** When an agent's newest recorded session went on last, ISO; null when it has none. */
  lastSession: (agent: string) => string | null;
}

const ADAPTERS: readonly Adapter[] = [
  openclaw,
  claudeCode,
  codex,
  opencode,
  hermes,
  zeroclaw,
  ironclaw,
  picoclaw,
];
const VERSION_MS = 10_000;
/** OpenClaw takes some seconds for each of its commands, on a busy computer many. */
const COMMAND_MS = 120_000;
const POLL_MS = 250;
const CONTEXT_WINDOW = 200_000;
const MAX_TOKENS = 8192;

/** Finds the agents of this computer, points them at the proxy, and puts everything back. */
export class AgentBook {
  readonly #deps: AgentBookDeps;
  readonly #connections: Connections;
  readonly #versions = new Map<string, string | null>();
  /** When a request came to an agent's own address, since the start. */
  readonly #heard = new Map<string, string>();

  constructor(deps: AgentBookDeps) {
    this.#deps = deps;
    this.#connections = new Connections(deps);
  }

  /** A request came to an agent's own address. */
  heard(agent: string): void {
    if (ADAPTERS.some(({ id }) => id === agent))
      this.#heard.set(agent, new Date(this.#deps.clock.now()).toISOString());
  }

  /** Every agent that is known, those on this computer first. */
  async list(): Promise<AgentSummary[]> {
    const all = await Promise.all(ADAPTERS.map((adapter) => this.#summary(adapter)));
    return all.sort((one, other) => Number(one.state === 'absent') - Number(other.state === 'absent'));
  }

  /** What a connection would change. CONFIG_INVALID for settings that cannot be read, CONFLICT for those left alone. */
  async plan(id: AgentId): Promise<AgentPlan> {
    const adapter = adapterOf(id);
    return this.#planOf(adapter, await this.#prepare(adapter));
  }

  /**
   * Makes the changes of a plan. Kept first: how to take them back, so that a crash in between leaves nothing that
   * cannot be undone. CONFLICT when the settings are not those of `hash` any more.
   */
  async connect(id: AgentId, hash?: string): Promise<AgentSummary> {
    const adapter = adapterOf(id);
    const edits = await this.#prepare(adapter);
    const plan = this.#planOf(adapter, edits);
    if (hash !== undefined && hash !== plan.hash)
      throw new AppError('CONFLICT', `The settings of ${nameOf(id)} have changed since the plan was shown.`, {
        hint: 'Look at the new plan.',
      });
    if (!plan.done) {
      const before = this.#connections.get(id);
      this.#connections.save(id, connectedFiles(adapter, edits));
      try {
        await write(adapter, edits, await this.#runner(adapter));
      } catch (error) {
        if (before === null) this.#connections.remove(id);
        else this.#connections.save(id, before);
        throw error;
      }
      // The agent's own command lays its file out as it likes.
      if (adapter.command) this.#connections.save(id, connectedFiles(adapter, edits));
      this.#deps.log.info({ agent: id, files: edits.map(({ path }) => path) }, 'agent connected');
      this.#deps.bus.emit('invalidate', 'agents');
    }
    return this.#summary(adapter);
  }

  /**
   * Puts everything back. A file that nobody has touched since gets its former bytes; in any other only what is still
   * ours goes, and `kept` names what was changed since and stays. NOT_FOUND when it is not connected.
   */
  async disconnect(id: AgentId): Promise<{ restored: string[]; kept: string[] }> {
    const adapter = adapterOf(id);
    const files = this.#connections.get(id);
    if (files === null)
      throw new AppError('NOT_FOUND', `${nameOf(id)} is not connected.`, {
        hint: 'Run metaclaw agents list.',
      });
    const run = await this.#runner(adapter);
    const restored: string[] = [];
    const kept: string[] = [];
    for (const file of files) {
      const back = await takeBack(adapter, file, run);
      kept.push(...back.kept);
      if (back.restored) restored.push(file.path);
    }
    this.#connections.remove(id);
    this.#deps.log.info({ agent: id, restored, kept }, 'agent disconnected');
    this.#deps.bus.emit('invalidate', 'agents');
    return { restored, kept };
  }

  /** Waits for a request of the agent at its own address, at most `waitMs`. */
  async verify(id: AgentId, waitMs: number): Promise<AgentVerification> {
    const since = new Date(this.#deps.clock.now()).toISOString();
    const { state, detail } = await this.#summary(adapterOf(id));
    const until = this.#deps.clock.now() + waitMs;
    for (;;) {
      const heard = this.#heard.get(id);
      if (heard !== undefined && heard >= since) return { state, detail, requestAt: heard };
      if (this.#deps.clock.now() >= until) return { state, detail, requestAt: null };
      await new Promise<void>((later) => {
        this.#deps.clock.after(POLL_MS, later);
      });
    }
  }

  async #summary(adapter: Adapter): Promise<AgentSummary> {
    const { id } = adapter;
    const { env } = this.#deps;
    const place = this.#place();
    const program = await findProgram(adapter.binary, env);
    const version = program === null ? null : await this.#versionOf(program);
    const files = adapter.files(place);
    const base = {
      id,
      name: nameOf(id),
      program,
      version,
      files: files.map(({ path }) => path),
      connectedAt: this.#connections.since(id),
      lastRequestAt: this.#heard.get(id) ?? this.#deps.lastSession(id),
    };
    if (program === null && !existsSync(adapter.folder(place)) && base.connectedAt === null)
      return { ...base, provider: null, state: 'absent', detail: null };
    try {
      const values = files.map(({ path, format }) =>
        readSettings(path, format, readFileText(path)?.text ?? ''),
      );
      const provider = adapter.provider(values);
      const connected = this.#connections.get(id);
      if (connected !== null) {
        const lost = connected.flatMap((file) =>
          drifted(readSettings(file.path, file.format, readFileText(file.path)?.text ?? ''), file.traces),
        );
        return lost.length === 0
          ? { ...base, provider, state: 'connected', detail: null }
          : { ...base, provider, state: 'drifted', detail: `Changed since: ${lost.join(', ')}.` };
      }
      const reason = adapter.unsupported(values);
      return { ...base, provider, state: reason === null ? 'free' : 'unsupported', detail: reason };
    } catch (error) {
      return { ...base, provider: null, state: 'unsupported', detail: messageOf(error) };
    }
  }

  async #prepare(adapter: Adapter): Promise<FileEdit[]> {
    return prepare(adapter, {
      target: this.#target(adapter.id),
      place: this.#place(),
      connected: this.#connections.get(adapter.id),
      run: await this.#runner(adapter),
    });
  }

  #planOf(adapter: Adapter, edits: readonly FileEdit[]): AgentPlan {
    const values = edits.map(({ path, format, base }) => readSettings(path, format, base));
    const changed = edits.filter((edit) => edit.changed);
    return {
      id: adapter.id,
      hash: digest(JSON.stringify(edits.map(({ path, now, text }) => [path, now?.text ?? null, text]))),
      files: changed.map((edit) => ({
        path: edit.path,
        exists: edit.now !== null,
        diff: diffOf(edit),
      })),
      commands: adapter.command && changed.length > 0 ? [adapter.command.words(patchOf(changed))] : [],
      notes: [...adapter.notes(values, this.#place())],
      done: changed.length === 0 && this.#connections.has(adapter.id),
    };
  }

  /** Runs the agent's own program; rejects with NOT_FOUND where it is needed and not there. */
  async #runner(adapter: Adapter): Promise<Run> {
    const { env } = this.#deps;
    const program = await findProgram(adapter.binary, env);
    if (program === null && adapter.command)
      throw new AppError('NOT_FOUND', `The program ${adapter.binary} is not found.`, {
        hint: `${nameOf(adapter.id)} changes its settings itself: put ${adapter.binary} on the PATH of MetaClaw.`,
      });
    return (args, input) =>
      runProgram(program ?? adapter.binary, args, { env: ownEnv(env), input, timeoutMs: COMMAND_MS });
  }

  #target(id: AgentId): Target {
    const { proxy, llm, context_window: window } = this.#deps.config();
    const base = `${this.#deps.base()}/a/${id}`;
    const key = proxy.api_key;
    return {
      openai: `${base}/v1`,
      anthropic: base,
      openaiWithKey: key === '' ? `${base}/v1` : `${base}/k/${encodeURIComponent(key)}/v1`,
      key: key === '' ? 'metaclaw' : key,
      model: llm.model_id || 'metaclaw',
      contextWindow: window || CONTEXT_WINDOW,
      maxTokens: MAX_TOKENS,
      passthrough: llm.auth_method === 'passthrough',
    };
  }

  #place(): Place {
    return { home: userHome(this.#deps.env), env: this.#deps.env, exists: existsSync };
  }

  async #versionOf(program: string): Promise<string | null> {
    const known = this.#versions.get(program);
    if (known !== undefined) return known;
    const answer = await askProgram(program, ['--version'], ownEnv(this.#deps.env), VERSION_MS);
    const version = answer?.code === 0 ? (/\d+\.\d+[\w.-]*/.exec(answer.text)?.[0] ?? null) : null;
    this.#versions.set(program, version);
    return version;
  }
}

/** What is kept of a connection. Before its own command has run, nobody knows the bytes that it will write. */
function connectedFiles(adapter: Adapter, edits: readonly FileEdit[]): ConnectedFile[] {
  return edits.map(({ path, format, now, base, changes, text }) => ({
    path,
    format,
    existed: now !== null,
    mode: now?.mode ?? null,
    base,
    after: digest(adapter.command ? (readFileText(path)?.text ?? '') : text),
    restorable: adapter.command?.restorable?.(readSettings(path, format, base)) ?? true,
    traces: tracesOf(path, format, base, changes),
  }));
}

/** The user's environment, without what makes a program of Electron's out of one of Node's. */
function ownEnv(env: Env): Record<string, string> {
  const own: Record<string, string> = { NO_COLOR: '1' };
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !/^(?:ELECTRON_|NODE_OPTIONS$)/.test(name)) own[name] = value;
  own.PATH = searchPath(env).join(delimiter);
  return own;
}

function adapterOf(id: AgentId): Adapter {
  const adapter = ADAPTERS.find((one) => one.id === id);
  if (adapter === undefined) throw new AppError('NOT_FOUND', `There is no agent ${id}.`, { field: 'id' });
  return adapter;
}

function nameOf(id: AgentId): string {
  return agentName(id) ?? id;
}
