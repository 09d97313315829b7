import type { EventReader } from './events.ts';
import { ClaudeReader, CodexReader, GeminiReader } from './events.ts';

/** Vendor programs that can answer with the sign-in that they keep on this computer. */
export type ProgramId = 'claude' | 'codex' | 'gemini';

/** What one run needs beside the prompt, which always goes to standard input. */
interface RunFiles {
  /** Absolute path of a private file that holds the system prompt. */
  systemFile: string;
  /** Model to ask for; null leaves the choice to the program. */
  model: string | null;
}

/** Everything that is particular to one vendor's program; seen with the versions that the tests name. */
export interface Program {
  id: ProgramId;
  /** Provider id of its preset. */
  provider: string;
  /** As its vendor writes it. */
  title: string;
  /** File name on PATH, without an extension. */
  binary: string;
  install: string;
  signIn: string;
  /** Arguments of one answer: streamed as JSON lines, no tools, nothing of the user's project, no session kept. */
  args: (run: RunFiles) => string[];
  /** Environment of one answer, beside what every program gets. */
  env: (run: RunFiles) => Record<string, string>;
  /** How a stored sign-in token is handed over; never as an argument. */
  tokenEnv: (token: string) => Record<string, string>;
  /** Variables of the user's that tell it where its sign-in is. */
  keeps: readonly string[];
  /** Files that its working folder holds. */
  folder: Readonly<Record<string, string>>;
  /** Arguments that tell by the exit code whether somebody is signed in; null where there is no such command. */
  statusArgs: readonly string[] | null;
  reader: () => EventReader;
}

/** No file of the user's may be read on behalf of a request, whatever its text mentions with an `@`. */
const CLAUDE_SETTINGS = JSON.stringify({ permissions: { deny: ['Read(//**)'] }, disableAllHooks: true });

/** Features of Codex that give the model something to act with. An unknown name is ignored. */
const CODEX_OFF = [
  'shell_tool',
  'unified_exec',
  'code_mode_host',
  'multi_agent',
  'apps',
  'plugins',
  'remote_plugin',
  'goals',
  'image_generation',
  'view_image',
  'browser_use',
  'browser_use_external',
  'in_app_browser',
  'computer_use',
  'skill_search',
  'tool_suggest',
  'hooks',
  'sleep_tool',
];

const GEMINI_SETTINGS = JSON.stringify({
  tools: { core: ['none'] },
  mcp: { allowed: [] },
  hooksConfig: { enabled: false },
  skills: { enabled: false },
  experimental: { enableAgents: false },
  general: { sessionRetention: { enabled: true, maxAge: '1d', maxCount: 1 } },
});

const PROGRAMS: Readonly<Record<ProgramId, Program>> = {
  claude: {
    id: 'claude',
    provider: 'claude-cli',
    title: 'Claude Code',
    binary: 'claude',
    install: 'Install it: npm install -g @anthropic-ai/claude-code',
    signIn: 'Run `claude` once in a terminal and sign in.',
    args: ({ systemFile, model }) => [
      '-p',
      ...['--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
      ...['--tools', '', '--strict-mcp-config', '--disable-slash-commands'],
      ...['--setting-sources', '', '--settings', CLAUDE_SETTINGS, '--no-session-persistence'],
      ...['--system-prompt-file', systemFile],
      ...(model === null ? [] : ['--model', model]),
    ],
    env: () => ({
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '2',
      DISABLE_AUTOUPDATER: '1',
    }),
    tokenEnv: (token) => ({ CLAUDE_CODE_OAUTH_TOKEN: token }),
    keeps: ['CLAUDE_CONFIG_DIR'],
    folder: {},
    statusArgs: ['auth', 'status'],
    reader: () => new ClaudeReader(),
  },
  codex: {
    id: 'codex',
    provider: 'codex-cli',
    title: 'Codex',
    binary: 'codex',
    install: 'Install it: npm install -g @openai/codex',
    signIn: 'Run `codex login` in a terminal.',
    args: ({ systemFile, model }) => [
      ...['exec', '--json', '--ephemeral', '--ignore-user-config', '--ignore-rules', '--skip-git-repo-check'],
      ...['--sandbox', 'read-only', '--color', 'never'],
      ...CODEX_OFF.flatMap((feature) => ['-c', `features.${feature}=false`]),
      ...['-c', 'web_search="disabled"', '-c', 'project_doc_max_bytes=0'],
      ...['-c', 'include_environment_context=false'],
      // A JSON string is a string of TOML.
      ...['-c', `model_instructions_file=${JSON.stringify(systemFile)}`],
      ...(model === null ? [] : ['--model', model]),
      '-',
    ],
    env: () => ({}),
    tokenEnv: (token) => ({ CODEX_ACCESS_TOKEN: token }),
    keeps: ['CODEX_HOME'],
    folder: {},
    statusArgs: ['login', 'status'],
    reader: () => new CodexReader(),
  },
  gemini: {
    id: 'gemini',
    provider: 'gemini-cli',
    title: 'Gemini CLI',
    binary: 'gemini',
    install: 'Install it: npm install -g @google/gemini-cli',
    signIn: 'Run `gemini` once in a terminal and sign in.',
    args: ({ model }) => [
      ...['--output-format', 'stream-json', '--approval-mode', 'default', '--extensions', 'none'],
      ...(model === null ? [] : ['--model', model]),
    ],
    env: ({ systemFile }) => ({ GEMINI_SYSTEM_MD: systemFile, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    tokenEnv: (token) => ({ GOOGLE_GENAI_USE_GCA: 'true', GOOGLE_CLOUD_ACCESS_TOKEN: token }),
    keeps: [
      'GEMINI_CLI_HOME',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_CLOUD_LOCATION',
      'GOOGLE_APPLICATION_CREDENTIALS',
    ],
    folder: { '.gemini/settings.json': GEMINI_SETTINGS },
    statusArgs: null,
    reader: () => new GeminiReader(),
  },
};

/** Model name that leaves the choice to the program. */
export const PROGRAMS_CHOICE = 'default';

export function programs(): readonly Program[] {
  return Object.values(PROGRAMS);
}

export function programOf(id: ProgramId): Program {
  return PROGRAMS[id];
}

/** Providers of the original that were answered by a vendor's program. */
const OF_THE_ORIGINAL: Readonly<Record<string, ProgramId>> = {
  anthropic: 'claude',
  'openai-codex': 'codex',
  gemini: 'gemini',
};

/**
 * The program that answers for a provider, or null. A provider named after a program always means it; one of the
 * original's does with `auth_method: oauth_token`, unless an address says where else the token is to be sent.
 */
export function programFor(provider: string, authMethod: string | undefined, base: string): ProgramId | null {
  const name = provider.trim().toLowerCase();
  const named = programs().find((program) => program.provider === name);
  if (named) return named.id;
  return authMethod === 'oauth_token' && base === '' ? (OF_THE_ORIGINAL[name] ?? null) : null;
}
