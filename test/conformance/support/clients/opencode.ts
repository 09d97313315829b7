import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../process.ts';
import { programs } from '../programs.ts';
import { makeHome } from './home.ts';
import { type ClientKind, PROXY_KEY, TIME_LIMIT_MS } from './kind.ts';

export const opencode: ClientKind = {
  name: 'opencode',
  agent: 'opencode',
  dialect: 'openai',
  tool: { name: 'bash', input: (command) => ({ command, description: 'Print a line' }) },
  missing: () => programs.missing('opencode'),
  install: async (base, model) => {
    const { home, workspace, env, remove } = await makeHome();
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
      remove,
    };
  },
};
