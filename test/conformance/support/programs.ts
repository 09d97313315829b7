import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const folder = process.env.METACLAW_CONFORMANCE_FOLDER ?? '';
const machine = `${process.platform}-${process.arch}`;
const inModules = (...parts: string[]) => join(folder, 'node_modules', ...parts);

/** OpenClaw 2026.9 wants Node 24.16 or newer 24. */
function runsOpenclaw(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 24 && minor >= 16;
}

const codexTarget = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;

const files = {
  node24: runsOpenclaw(process.versions.node)
    ? process.execPath
    : inModules(`node-${machine}`, 'bin', 'node'),
  openclaw: inModules('openclaw', 'openclaw.mjs'),
  claude: inModules('@anthropic-ai', `claude-code-${machine}`, 'claude'),
  codex: inModules('@openai', `codex-${machine}`, 'vendor', codexTarget, 'bin', 'codex'),
  opencode: inModules(`opencode-${machine}`, 'bin', 'opencode'),
};

/** Where the runner installed the clients. Their binaries are used as packed: no install script has run. */
export const programs = {
  ...files,
  nodeFolder: dirname(files.node24),
  /** Why a program cannot be run, or null. */
  missing(name: keyof typeof files): string | null {
    if (folder === '') return 'the clients are not installed; start these tests by npm run test:clients';
    return existsSync(files[name]) ? null : `${name} is not installed for ${machine}`;
  },
};
