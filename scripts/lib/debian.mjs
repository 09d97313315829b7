// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { run } from './child.mjs';
import { StepError, say } from './say.mjs';

/** The shared libraries that Electron loads, and the session bus that its tray talks on. */
export const electronPackages = [
  'libgtk-3-0',
  'libnss3',
  'libasound2',
  'libgbm1',
  'libxss1',
  'libnotify4',
  'dbus',
];

/** A desktop with a real tray host, and the tools that click and photograph it. */
export const desktopPackages = [
  'xvfb',
  'openbox',
  'trayer',
  'xdotool',
  'scrot',
  'x11-utils',
  'dbus-x11',
  'xauth',
];

/**
 * Picks what is missing. Newer releases renamed some libraries with the suffix t64; either name will do.
 * @param {readonly string[]} wanted
 * @param {ReadonlySet<string>} installed
 */
export function missingPackages(wanted, installed) {
  return wanted.filter((name) => !installed.has(name) && !installed.has(`${name}t64`));
}

/** @param {string} osRelease content of /etc/os-release */
export function isDebianLike(osRelease) {
  return /^(ID|ID_LIKE)=.*\b(debian|ubuntu)\b/m.test(osRelease);
}

/**
 * Makes sure of Debian packages: installs them as root after saying so, otherwise says which command would.
 * Elsewhere than on Debian and its relatives it does nothing.
 * @param {readonly string[]} wanted
 * @param {{ required: boolean }} options required: stop when a package is missing and cannot be installed
 */
export async function ensureDebianPackages(wanted, { required }) {
  if (process.platform !== 'linux' || !existsSync('/etc/os-release') || !existsSync('/usr/bin/dpkg-query'))
    return;
  if (!isDebianLike(readFileSync('/etc/os-release', 'utf8'))) return;
  const missing = missingPackages(wanted, installedPackages(wanted));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    const line = `missing Debian packages; install them with: sudo apt-get install ${missing.join(' ')}`;
    if (required) throw new StepError(line);
    say(line);
    return;
  }
  say('updating the list of Debian packages (apt-get update)');
  await apt(['update']);
  const names = missing.map(availableName);
  say(`installing Debian packages (apt-get install ${names.join(' ')})`);
  await apt(['install', '--yes', '--no-install-recommends', ...names]);
}

/** @param {readonly string[]} wanted */
function installedPackages(wanted) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  const format = '${db:Status-Status} ${Package}\n';
  const query = spawnSync(
    'dpkg-query',
    ['--show', '--showformat', format, ...wanted.flatMap((n) => [n, `${n}t64`])],
    { encoding: 'utf8' },
  );
  return new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.startsWith('installed '))
      .map((line) => line.slice('installed '.length)),
  );
}

/** @param {string} name */
function availableName(name) {
  const found = spawnSync('apt-cache', ['show', '--no-all-versions', `${name}t64`], { encoding: 'utf8' });
  return found.status === 0 && found.stdout.includes(`Package: ${name}t64`) ? `${name}t64` : name;
}

/** @param {readonly string[]} args */
async function apt(args) {
  const result = await run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.code !== 0) throw new StepError(`apt-get ${args[0]} failed`, result.output);
}
