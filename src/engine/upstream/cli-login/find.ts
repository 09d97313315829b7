import { delimiter, dirname } from 'node:path';
import type { VendorProgram } from '../../../shared/contract.ts';
import { askProgram, type Env, findProgram, searchPath } from '../../platform/programs.ts';
import { type Program, programs } from './programs.ts';

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

/** The vendors' programs that are installed here, with what they say of themselves. Never rejects. */
export async function installedPrograms(env: Env): Promise<VendorProgram[]> {
  const found = await Promise.all(programs().map((program) => describeProgram(program, env)));
  return found.filter((one) => one !== null);
}

/** One program, asked for its version and whether somebody is signed in; null when it is not installed. */
export async function describeProgram(program: Program, env: Env, token = ''): Promise<VendorProgram | null> {
  const path = await findProgram(program.binary, env);
  if (path === null) return null;
  const childEnv = { ...programEnv(program, env, path), ...(token === '' ? {} : program.tokenEnv(token)) };
  const [version, status] = await Promise.all([
    askProgram(path, ['--version'], childEnv, LOOK_MS),
    program.statusArgs === null ? null : askProgram(path, program.statusArgs, childEnv, LOOK_MS),
  ]);
  return {
    provider: program.provider,
    title: program.title,
    path,
    version: version?.code === 0 ? (/\d+\.\d+[\w.-]*/.exec(version.text)?.[0] ?? null) : null,
    signedIn: token !== '' || status === null ? null : status.code === 0,
  };
}
