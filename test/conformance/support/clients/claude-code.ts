import { runProgram } from '../process.ts';
import { programs } from '../programs.ts';
import { lastJson, makeHome } from './home.ts';
import { type ClientKind, PROXY_KEY, TIME_LIMIT_MS } from './kind.ts';

export const claudeCode: ClientKind = {
  name: 'Claude Code',
  agent: 'claude-code',
  dialect: 'anthropic',
  tool: { name: 'Bash', input: (command) => ({ command, description: 'Print a line' }) },
  missing: () => programs.missing('claude'),
  install: async (base, model) => {
    const { workspace, env, remove } = await makeHome();
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
      remove,
    };
  },
};
