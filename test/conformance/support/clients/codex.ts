import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../process.ts';
import { programs } from '../programs.ts';
import { makeHome } from './home.ts';
import { type ClientKind, PROXY_KEY, TIME_LIMIT_MS } from './kind.ts';

/** Codex, which speaks only the Responses API; `codex exec` without its own sandbox, which a namespace cannot hold. */
export const codex: ClientKind = {
  name: 'Codex',
  agent: 'codex',
  dialect: 'responses',
  tool: { name: 'exec_command', input: (cmd) => ({ cmd }) },
  missing: () => programs.missing('codex'),
  install: async (base, model) => {
    const { home, workspace, env, remove } = await makeHome();
    await mkdir(join(home, '.codex'));
    await writeFile(
      join(home, '.codex', 'config.toml'),
      `model = "${model}"
model_provider = "metaclaw"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.metaclaw]
name = "MetaClaw"
base_url = "${base}/v1"
env_key = "METACLAW_KEY"
wire_api = "responses"
`,
    );
    const lastWords = join(home, 'last-words.txt');
    let session: string[] = [];
    return {
      say: async (text) => {
        await rm(lastWords, { force: true });
        const options = ['--skip-git-repo-check', '--output-last-message', lastWords];
        const ended = await runProgram([programs.codex, 'exec', ...options, ...session, text], {
          env: { ...env, METACLAW_KEY: PROXY_KEY },
          cwd: workspace,
          timeoutMs: TIME_LIMIT_MS,
        });
        session = ['resume', '--last'];
        return { text: await readFile(lastWords, 'utf8').catch(() => ''), ended };
      },
      startAnew: () => {
        session = [];
      },
      remove,
    };
  },
};
