import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { x } from 'tinyexec';

export type Env = Readonly<Record<string, string | undefined>>;

/** The user's home folder, as programs started with this environment see it. */
export function userHome(env: Env): string {
  return env.HOME ?? env.USERPROFILE ?? homedir();
}

/** Absolute path of a program; null when it is not installed. */
export async function findProgram(binary: string, env: Env): Promise<string | null> {
  const names = process.platform === 'win32' ? [`${binary}.exe`, `${binary}.cmd`] : [binary];
  for (const folder of searchPath(env)) {
    for (const name of names) {
      const path = join(folder, name);
      if (await isProgram(path)) return path;
    }
  }
  return null;
}

/** PATH, then where the vendors' installers put their programs: a desktop session often knows the system's folders only. */
export function searchPath(env: Env): string[] {
  const home = userHome(env);
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

/** Runs a program without a shell, with this environment alone; null when it did not start or end in time. */
export async function askProgram(
  path: string,
  args: readonly string[],
  env: Record<string, string>,
  timeoutMs: number,
): Promise<{ code: number; text: string } | null> {
  try {
    const { exitCode, stdout } = await x(path, [...args], {
      timeout: timeoutMs,
      inheritEnv: false,
      nodePath: false,
      nodeOptions: { env, stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true },
    });
    return exitCode === undefined ? null : { code: exitCode, text: stdout };
  } catch {
    return null;
  }
}

/**
 * Runs a program without a shell, gives it `input` and waits for its end, at most `timeoutMs`. Never rejects: a
 * program that did not start or end has no code, and says why in `stderr`.
 */
export function runProgram(
  path: string,
  args: readonly string[],
  { env, input, timeoutMs }: { env: Record<string, string>; input: string; timeoutMs: number },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const child = execFile(
      path,
      [...args],
      { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 4 * 1024 * 1024, windowsHide: true },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        const late = error?.killed ? `It did not end within ${timeoutMs / 1000} s.` : '';
        done({ code, stdout, stderr: stderr || late || (code === null ? (error?.message ?? '') : '') });
      },
    );
    // A program that ends before it has read everything is judged by its exit.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
