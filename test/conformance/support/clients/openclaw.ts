import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../process.ts';
import { programs } from '../programs.ts';
import { lastJson, makeHome, NOWHERE } from './home.ts';
import { type ClientKind, PROXY_KEY, TIME_LIMIT_MS } from './kind.ts';

const DIALECTS = {
  'openai-completions': 'openai',
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
} as const;

/** OpenClaw's embedded run, as `openclaw agent --local` does it; `api` is its name of the wire. */
export function openclaw(api: keyof typeof DIALECTS): ClientKind {
  const dialect = DIALECTS[api];
  return {
    name: `OpenClaw (${api})`,
    agent: 'openclaw',
    dialect,
    tool: { name: 'exec', input: (command) => ({ command }) },
    missing: () => programs.missing('openclaw') ?? programs.missing('node24'),
    install: async (base, model) => {
      const { home, workspace, env, remove } = await makeHome();
      const provider = {
        api,
        baseUrl: dialect === 'anthropic' ? base : `${base}/v1`,
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
        remove,
      };
    },
  };
}
