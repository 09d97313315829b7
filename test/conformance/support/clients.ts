import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dialect } from '../../../src/shared/model.ts';
import { type Ended, runProgram } from './process.ts';
import { programs } from './programs.ts';

/** What a client printed for the person in front of it. */
export interface Answer {
  text: string;
  ended: Ended;
}

/** One installation of a real client with a home and a workspace of its own. */
export interface Client {
  /** Says something in the current session. */
  say(text: string): Promise<Answer>;
  /** What is said next belongs to another session. */
  startAnew(): void;
  remove(): Promise<void>;
}

export interface ClientKind {
  name: string;
  /** As in `/a/<agent>/…`. */
  agent: string;
  dialect: Dialect;
  /** The tool by which it runs a command, and that tool's arguments. */
  tool: { name: string; input: (command: string) => Record<string, unknown> };
  /** Why it cannot run here, or null. */
  missing(): string | null;
  /** `base` is MetaClaw's address with `/a/<agent>`, without `/v1`. */
  install(base: string, model: string): Promise<Client>;
}

/** The proxy's own key, which no provider may see. */
export const PROXY_KEY = 'sk-local-conformance';
const TIME_LIMIT_MS = 240_000;
/** Reached by nothing: whatever does not go to this machine fails at once. */
const NOWHERE = 'http://127.0.0.1:9';

async function makeHome(): Promise<{ home: string; workspace: string; env: NodeJS.ProcessEnv }> {
  const root = await mkdtemp(join(tmpdir(), 'metaclaw-client-'));
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  await mkdir(home);
  await mkdir(workspace);
  const env: NodeJS.ProcessEnv = {
    HOME: home,
    PATH: [programs.nodeFolder, '/usr/local/bin', '/usr/bin', '/bin'].filter(Boolean).join(':'),
    TMPDIR: root,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
  };
  return { home, workspace, env };
}

const removeHome = (home: string) => rm(join(home, '..'), { recursive: true, force: true, maxRetries: 5 });

function lastJson(text: string): Record<string, unknown> {
  const from = text.search(/^\{/m);
  try {
    return JSON.parse(text.slice(from)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** OpenClaw's embedded run, as `openclaw agent --local` does it; `api` is its name of the wire. */
function openclaw(api: 'openai-completions' | 'anthropic-messages'): ClientKind {
  const dialect = api === 'openai-completions' ? 'openai' : 'anthropic';
  return {
    name: `OpenClaw (${api})`,
    agent: 'openclaw',
    dialect,
    tool: { name: 'exec', input: (command) => ({ command }) },
    missing: () => programs.missing('openclaw') ?? programs.missing('node24'),
    install: async (base, model) => {
      const { home, workspace, env } = await makeHome();
      const provider = {
        api,
        baseUrl: dialect === 'openai' ? `${base}/v1` : base,
        apiKey: PROXY_KEY,
        models: [
          {
            id: model,
            name: model,
            reasoning: false,
            input: ['text'],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            contextWindow: 200_000,
            maxTokens: 8192,
          },
        ],
      };
      await mkdir(join(home, '.openclaw'));
      await writeFile(
        join(home, '.openclaw', 'openclaw.json'),
        JSON.stringify({
          telemetry: { enabled: false },
          update: { checkOnStart: false },
          models: { mode: 'merge', providers: { metaclaw: provider } },
          agents: {
            defaults: {
              model: { primary: `metaclaw/${model}` },
              workspace,
              skipBootstrap: true,
              sandbox: { mode: 'off' },
            },
          },
        }),
      );
      let session: string[] = [];
      return {
        say: async (text) => {
          const command = [
            programs.node24,
            programs.openclaw,
            'agent',
            '--local',
            '--agent',
            'main',
          ] as const;
          const ended = await runProgram([...command, ...session, '--message', text, '--json'], {
            env: { ...env, OPENCLAW_TELEMETRY_ENDPOINT: `${NOWHERE}/none` },
            cwd: workspace,
            timeoutMs: TIME_LIMIT_MS,
          });
          const payloads = (lastJson(ended.stdout).payloads ?? []) as { text?: string }[];
          return { text: payloads.map((payload) => payload.text ?? '').join('\n'), ended };
        },
        startAnew: () => {
          session = ['--session-id', crypto.randomUUID()];
        },
        remove: () => removeHome(home),
      };
    },
  };
}

const claudeCode: ClientKind = {
  name: 'Claude Code',
  agent: 'claude-code',
  dialect: 'anthropic',
  tool: { name: 'Bash', input: (command) => ({ command, description: 'Print a line' }) },
  missing: () => programs.missing('claude'),
  install: async (base, model) => {
    const { home, workspace, env } = await makeHome();
    let session: string[] = [];
    return {
      say: async (text) => {
        const options = ['--output-format', 'json', '--allowedTools', 'Bash', '--max-turns', '4'];
        const ended = await runProgram([programs.claude, '-p', text, ...session, ...options], {
          env: {
            ...env,
            ANTHROPIC_BASE_URL: base,
            ANTHROPIC_API_KEY: PROXY_KEY,
            ANTHROPIC_MODEL: model,
            ANTHROPIC_SMALL_FAST_MODEL: model,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            DISABLE_TELEMETRY: '1',
            DISABLE_ERROR_REPORTING: '1',
            DISABLE_AUTOUPDATER: '1',
          },
          cwd: workspace,
          timeoutMs: TIME_LIMIT_MS,
        });
        session = ['--continue'];
        return { text: String(lastJson(ended.stdout).result ?? ''), ended };
      },
      startAnew: () => {
        session = [];
      },
      remove: () => removeHome(home),
    };
  },
};

const opencode: ClientKind = {
  name: 'opencode',
  agent: 'opencode',
  dialect: 'openai',
  tool: { name: 'bash', input: (command) => ({ command, description: 'Print a line' }) },
  missing: () => programs.missing('opencode'),
  install: async (base, model) => {
    const { home, workspace, env } = await makeHome();
    await mkdir(join(home, '.config', 'opencode'), { recursive: true });
    await writeFile(
      join(home, '.config', 'opencode', 'opencode.json'),
      JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        model: `metaclaw/${model}`,
        small_model: `metaclaw/${model}`,
        permission: { bash: 'allow' },
        provider: {
          metaclaw: {
            npm: '@ai-sdk/openai-compatible',
            name: 'MetaClaw',
            options: { baseURL: `${base}/v1`, apiKey: PROXY_KEY },
            models: { [model]: { name: model, limit: { context: 131_072, output: 8192 } } },
          },
        },
      }),
    );
    let session: string[] = [];
    return {
      say: async (text) => {
        // It puts quotes around an argument of several words.
        const ended = await runProgram([programs.opencode, 'run', ...session, ...text.split(' ')], {
          env: {
            ...env,
            OPENCODE_DISABLE_AUTOUPDATE: '1',
            OPENCODE_DISABLE_MODELS_FETCH: '1',
            OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
          },
          cwd: workspace,
          timeoutMs: TIME_LIMIT_MS,
        });
        session = ['--continue'];
        return { text: ended.stdout, ended };
      },
      startAnew: () => {
        session = [];
      },
      remove: () => removeHome(home),
    };
  },
};

export const CLIENTS: readonly ClientKind[] = [
  openclaw('openai-completions'),
  openclaw('anthropic-messages'),
  claudeCode,
  opencode,
];
