import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export type VendorProgram = 'claude' | 'codex' | 'gemini';

/** One run of a fake program, as it saw itself. */
interface ProgramCall {
  program: VendorProgram;
  pid: number;
  /** A process that it started and left behind; 0 without one. */
  childPid: number;
  args: string[];
  env: Record<string, string>;
  folder: string;
  folderMode: number;
  input: string;
  /** What stood in the file of the system prompt, and the file's mode. */
  system: string;
  systemMode: number;
  systemFile: string;
}

/** What a fake program does when it is asked for an answer. */
interface ProgramScript {
  /** Lines of its output: text as it stands, all else as JSON; a number waits so many milliseconds. */
  lines?: readonly (string | number | object)[];
  /** Bytes of output in place of lines, in chunks of which each is written by itself. */
  chunks?: readonly number[][];
  stderr?: string;
  exit?: number;
  /** Stays after its last line until it is killed, together with a process of its own. */
  hang?: boolean;
  /** Ends without reading its input. */
  deaf?: boolean;
  /** Ignores SIGTERM. */
  stubborn?: boolean;
  signedIn?: boolean;
}

export interface VendorPrograms {
  /** The environment that a host would have: these programs on PATH, and keys and addresses of vendors. */
  env: Record<string, string>;
  home: string;
  script(program: VendorProgram, script: ProgramScript): void;
  calls(): ProgramCall[];
  /** Takes a program off PATH. */
  uninstall(program: VendorProgram): void;
  remove(): void;
}

/** Keys and addresses that must never reach a program. */
export const NOT_FOR_PROGRAMS = {
  ANTHROPIC_API_KEY: 'sk-ant-of-the-user',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:30000',
  ANTHROPIC_AUTH_TOKEN: 'bearer-of-the-user',
  OPENAI_API_KEY: 'sk-of-the-user',
  OPENAI_BASE_URL: 'http://127.0.0.1:30000/v1',
  GEMINI_API_KEY: 'g-of-the-user',
  GOOGLE_API_KEY: 'g-of-the-user',
  AWS_SECRET_ACCESS_KEY: 'aws-of-the-user',
  GITHUB_TOKEN: 'gh-of-the-user',
  CLAUDECODE: '1',
} as const;

/** The vendors' programs as small scripts that check what they are given as strictly as the real ones, and more. */
export function installVendorPrograms(
  names: readonly VendorProgram[] = ['claude', 'codex', 'gemini'],
): VendorPrograms {
  const home = mkdtempSync(join(tmpdir(), 'vendor-programs-'));
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const at = (name: string) => join(home, name);
  const script = (program: VendorProgram, what: ProgramScript) =>
    writeFileSync(at(`${program}.json`), JSON.stringify(what));
  for (const name of names) {
    writeFileSync(
      join(bin, name),
      `#!${process.execPath}\n(${fake.toString()})(${JSON.stringify({ name, home })});\n`,
    );
    chmodSync(join(bin, name), 0o755);
    script(name, {});
  }
  const node = dirname(process.execPath);
  return {
    home,
    env: { PATH: [bin, node].join(delimiter), HOME: home, LANG: 'C.UTF-8', ...NOT_FOR_PROGRAMS },
    script,
    calls: () =>
      existsSync(at('calls.jsonl'))
        ? readFileSync(at('calls.jsonl'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as ProgramCall)
        : [],
    uninstall: (program) => rmSync(join(bin, program)),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Runs in the fake program's own process; must stand on its own. */
function fake({ name, home }: { name: string; home: string }): void {
  // biome-ignore-start lint/style/noCommonJs: a script without an extension is CommonJS
  const fs = require('node:fs') as typeof import('node:fs');
  const path = require('node:path') as typeof import('node:path');
  const { spawn } = require('node:child_process') as typeof import('node:child_process');
  // biome-ignore-end lint/style/noCommonJs: as above
  const args = process.argv.slice(2);
  const script = JSON.parse(fs.readFileSync(path.join(home, `${name}.json`), 'utf8'));
  const complain = (words: string): never => {
    fs.writeSync(2, `error: ${words}\n`);
    process.exit(64);
  };
  if (args[0] === '--version') {
    fs.writeSync(1, name === 'claude' ? '2.1.332 (Claude Code)\n' : `${name}-cli 9.8.7\n`);
    process.exit(0);
  }
  const status = args.join(' ');
  if (status === 'auth status' || status === 'login status') process.exit(script.signedIn === false ? 1 : 0);

  const value = (flag: string) => {
    const index = args.indexOf(flag);
    return index < 0 ? undefined : args[index + 1];
  };
  for (const arg of args)
    if (/dangerous|bypass|full-auto|yolo|^--permission-mode/i.test(arg)) complain(`not allowed: ${arg}`);
  let systemFile = '';
  if (name === 'claude') {
    if (!args.includes('-p') || value('--output-format') !== 'stream-json' || !args.includes('--verbose'))
      complain('stream-json wants -p and --verbose');
    if (value('--tools') !== '') complain('tools are offered');
    if (value('--setting-sources') !== '') complain('settings of the user are read');
    if (process.env.CLAUDE_CODE_DISABLE_ATTACHMENTS !== '1') complain('mentions of files are read');
    systemFile = value('--system-prompt-file') ?? '';
  } else if (name === 'codex') {
    if (args[0] !== 'exec' || !args.includes('--json') || args.at(-1) !== '-')
      complain('exec --json … - is wanted');
    if (value('--sandbox') !== 'read-only' || !args.includes('--ephemeral')) complain('no sandbox');
    if (!args.includes('features.shell_tool=false')) complain('a shell is offered');
    const given = args.find((arg) => arg.startsWith('model_instructions_file=')) ?? '';
    systemFile = JSON.parse(given.slice(given.indexOf('=') + 1) || '""');
  } else {
    if (value('--output-format') !== 'stream-json') complain('stream-json is wanted');
    if (process.env.GEMINI_CLI_TRUST_WORKSPACE !== 'true') complain('the workspace is not trusted');
    const settings = JSON.parse(fs.readFileSync('.gemini/settings.json', 'utf8'));
    if (settings.tools.core[0] !== 'none') complain('tools are offered');
    systemFile = process.env.GEMINI_SYSTEM_MD ?? '';
  }
  if (!path.isAbsolute(systemFile)) complain('no system prompt');
  const foreign = fs.readdirSync('.').filter((entry) => entry !== '.gemini');
  if (foreign.length > 0) complain(`the folder is not empty: ${foreign}`);

  if (script.stubborn) process.on('SIGTERM', () => {});
  const child = script.hang
    ? spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
    : null;
  const answer = async (input: string) => {
    fs.appendFileSync(
      path.join(home, 'calls.jsonl'),
      `${JSON.stringify({
        program: name,
        pid: process.pid,
        childPid: child?.pid ?? 0,
        args,
        env: process.env,
        folder: process.cwd(),
        folderMode: fs.statSync('.').mode & 0o777,
        input,
        system: fs.readFileSync(systemFile, 'utf8'),
        systemMode: fs.statSync(systemFile).mode & 0o777,
        systemFile,
      })}\n`,
    );
    const write = (bytes: string | Buffer) =>
      new Promise((done) => process.stdout.write(bytes, () => done(undefined)));
    for (const chunk of script.chunks ?? []) await write(Buffer.from(chunk));
    for (const line of script.lines ?? []) {
      if (typeof line === 'number') await new Promise((done) => setTimeout(done, line));
      else await write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
    }
    if (script.stderr) fs.writeSync(2, script.stderr);
    if (script.hang) setInterval(() => {}, 1000);
    else process.exit(script.exit ?? 0);
  };
  if (script.deaf) {
    process.stdin.destroy();
    void answer('');
    return;
  }
  const chunks: Buffer[] = [];
  process.stdin.on('data', (chunk) => chunks.push(chunk));
  process.stdin.on('end', () => void answer(Buffer.concat(chunks).toString('utf8')));
}

/** What `claude` 2.1.332 printed, shortened to what matters. */
export const CLAUDE = {
  begin: [
    { type: 'system', subtype: 'init', tools: [], model: 'claude-sonnet-5-5', permissionMode: 'default' },
    { type: 'system', subtype: 'status', status: 'requesting' },
    stream({ type: 'message_start', message: { id: 'msg_1', content: [], usage: { input_tokens: 11 } } }),
    stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ],
  text: (text: string) =>
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: (whole: string) => [
    {
      type: 'assistant',
      message: {
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'text', text: whole }],
        stop_reason: null,
      },
      parent_tool_use_id: null,
    },
    stream({ type: 'content_block_stop', index: 0 }),
    stream({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
    stream({ type: 'message_stop' }),
    { type: 'rate_limit_event', rate_limit_info: { status: 'allowed', isUsingOverage: false } },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      api_error_status: null,
      result: whole,
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 11,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 5,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 2 },
      },
    },
  ],
  failed: (status: number | null, message: string) => [
    {
      type: 'assistant',
      message: { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text: message }] },
      is_api_error_message: true,
      error: 'x',
    },
    {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: status,
      result: message,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  ],
} as const;

/** What `codex exec --json` 0.171.0 printed. */
export const CODEX = {
  answer: (...texts: string[]) => [
    'WARNING: proceeding, even though we could not create PATH aliases',
    { type: 'thread.started', thread_id: '01a2' },
    {
      type: 'item.completed',
      item: {
        id: 'item_0',
        type: 'error',
        message: 'Code Mode is unavailable because its host is disabled.',
      },
    },
    { type: 'turn.started' },
    ...texts.map((text, index) => ({
      type: 'item.completed',
      item: { id: `item_${index + 1}`, type: 'agent_message', text },
    })),
    {
      type: 'turn.completed',
      usage: { input_tokens: 20, cached_input_tokens: 4, output_tokens: 6, reasoning_output_tokens: 2 },
    },
  ],
  failed: (message: string) => [
    { type: 'thread.started', thread_id: '01a2' },
    { type: 'turn.started' },
    { type: 'error', message },
    { type: 'turn.failed', error: { message } },
  ],
} as const;

/** What `gemini --output-format stream-json` 0.61.0 printed. */
export const GEMINI = {
  answer: (...texts: string[]) => [
    { type: 'init', session_id: 's', model: 'auto' },
    { type: 'message', role: 'user', content: 'the prompt' },
    ...texts.map((content) => ({ type: 'message', role: 'assistant', content, delta: true })),
    {
      type: 'result',
      status: 'success',
      stats: { total_tokens: 26, input_tokens: 20, output_tokens: 6, cached: 4, input: 16, tool_calls: 0 },
    },
  ],
  failed: (message: string) => [
    { type: 'init', session_id: 's', model: 'auto' },
    { type: 'result', status: 'error', error: { type: 'unknown', message }, stats: {} },
  ],
} as const;

function stream(event: object): object {
  return { type: 'stream_event', event, session_id: 's', parent_tool_use_id: null };
}
