import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { x } from 'tinyexec';
import type { VendorProgram } from '../../../shared/contract.ts';
import { type Program, programs } from './programs.ts';

type Env = Readonly<Record<string, string | undefined>>;

const LOOK_MS = 10_000;

/** What a program needs to run, to reach its vendor and to find its sign-in. */
const PASSED_ON = new Set([
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'],
  ...['XDG_STATE_HOME', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH'],
  ...['APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)'],
]);

/**
 * The environment of a program: these variables and no others. Keys and addresses of vendors stay behind, so that it
 * answers with its own sign-in, at its own vendor, and not through this proxy again.
 */
export function programEnv(program: Program, env: Env, path: string): Record<string, string> {
  const out: Record<string, string> = { NO_COLOR: '1' };
  for (const [name, value] of Object.entries(env)) {
    const key = name.toUpperCase();
    if (value !== undefined && (PASSED_ON.has(key) || key.startsWith('LC_') || program.keeps.includes(key)))
      out[name] = value;
  }
  out.PATH = [dirname(path), ...searchPath(env)].join(delimiter);
  return out;
}

/** Absolute path of a program; null when it is not installed. */
export async function findProgram({ binary }: Pick<Program, 'binary'>, env: Env): Promise<string | null> {
  const names = process.platform === 'win32' ? [`${binary}.exe`, `${binary}.cmd`] : [binary];
  for (const folder of searchPath(env)) {
    for (const name of names) {
      const path = join(folder, name);
      if (await isProgram(path)) return path;
    }
  }
  return null;
}

/** The vendors' programs that are installed here, with what they say of themselves. Never rejects. */
export async function installedPrograms(env: Env): Promise<VendorProgram[]> {
  const found = await Promise.all(programs().map((program) => describeProgram(program, env)));
  return found.filter((one) => one !== null);
}

/** One program, asked for its version and whether somebody is signed in; null when it is not installed. */
export async function describeProgram(program: Program, env: Env, token = ''): Promise<VendorProgram | null> {
  const path = await findProgram(program, env);
  if (path === null) return null;
  const childEnv = { ...programEnv(program, env, path), ...(token === '' ? {} : program.tokenEnv(token)) };
  const [version, status] = await Promise.all([
    ask(path, ['--version'], childEnv),
    program.statusArgs === null ? null : ask(path, program.statusArgs, childEnv),
  ]);
  return {
    provider: program.provider,
    title: program.title,
    path,
    version: version?.code === 0 ? (/\d+\.\d+[\w.-]*/.exec(version.text)?.[0] ?? null) : null,
    signedIn: token !== '' || status === null ? null : status.code === 0,
  };
}

/** A short question whose answer is the exit code and a few words; null when it did not end in time. */
async function ask(
  path: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; text: string } | null> {
  try {
    const { exitCode, stdout } = await x(path, [...args], {
      timeout: LOOK_MS,
      inheritEnv: false,
      nodePath: false,
      nodeOptions: { env, stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true },
    });
    return exitCode === undefined ? null : { code: exitCode, text: stdout.slice(0, 1000) };
  } catch {
    return null;
  }
}

/** PATH, then where the vendors' installers put their programs: a desktop session often knows the system's folders only. */
function searchPath(env: Env): string[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const own = (env.PATH ?? env.Path ?? '').split(delimiter).filter(isAbsolute);
  const usual =
    process.platform === 'win32'
      ? [join(env.APPDATA ?? home, 'npm'), join(home, '.local', 'bin')]
      : [
          ...['.local/bin', '.npm-global/bin', '.claude/local', '.volta/bin', '.bun/bin'].map((at) =>
            join(home, at),
          ),
          ...['/opt/homebrew/bin', '/usr/local/bin'],
        ];
  return [...new Set([...own, ...usual])];
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
