import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { safeStorage } from 'electron';
import { systemPorts } from '../engine/index.ts';
import type { Ports, SecretStore } from '../engine/ports.ts';

/** Builds what the engine needs from this host: keychain or file, this process's environment. */
export function createPorts(deps: {
  env: Readonly<Record<string, string | undefined>>;
  appPath: string;
  version: string;
  overrides: Readonly<Record<string, unknown>>;
  configFile: string | undefined;
}): Ports {
  const common = systemPorts(deps.env, deps.configFile);
  return {
    ...common,
    host: 'app',
    version: deps.version,
    skillsBank: join(deps.appPath, 'skills-bank'),
    env: deps.env,
    secrets: keychainWorks()
      ? new KeychainSecretStore(join(common.home, 'secrets.keychain'), common.secrets)
      : common.secrets,
    overrides: deps.overrides,
    logToStderr: false,
  };
}

/**
 * True when the operating system really encrypts. On Linux without a keyring Electron offers a fixed password
 * ("basic_text"), which protects nothing: the file that only its owner can read is the honest choice then.
 */
function keychainWorks(): boolean {
  if (!safeStorage.isEncryptionAvailable()) return false;
  if (process.platform !== 'linux') return true;
  // Older runtimes cannot tell which keyring it is; they count as having none.
  if (typeof safeStorage.getSelectedStorageBackend !== 'function') return false;
  const backend = safeStorage.getSelectedStorageBackend();
  return backend !== 'basic_text' && backend !== 'unknown';
}

/**
 * Secrets encrypted by the operating system's keychain. What stands in the plain file (set by the command line, or
 * before there was a keychain) is still found; writing moves it over.
 */
class KeychainSecretStore implements SecretStore {
  readonly #file: string;
  readonly #plain: SecretStore;

  constructor(file: string, plain: SecretStore) {
    this.#file = file;
    this.#plain = plain;
  }

  get(name: string): string | null {
    const sealed = this.#read()[name];
    if (sealed === undefined) return this.#plain.get(name);
    try {
      return safeStorage.decryptString(Buffer.from(sealed, 'base64'));
    } catch {
      // Written under another login or keychain: as good as not there, and the user is asked for it again.
      return this.#plain.get(name);
    }
  }

  set(name: string, value: string): void {
    this.#write({ ...this.#read(), [name]: safeStorage.encryptString(value).toString('base64') });
    this.#plain.clear(name);
  }

  clear(name: string): void {
    const { [name]: gone, ...rest } = this.#read();
    if (gone !== undefined) this.#write(rest);
    this.#plain.clear(name);
  }

  names(): string[] {
    return [...new Set([...Object.keys(this.#read()), ...this.#plain.names()])].sort();
  }

  describe(): { kind: 'keychain'; detail: string } {
    const name =
      { darwin: 'Keychain', win32: 'Windows Data Protection' }[process.platform as string] ?? 'Keyring';
    return { kind: 'keychain', detail: name };
  }

  #read(): Record<string, string> {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, string>) : {};
    } catch {
      return {};
    }
  }

  #write(sealed: Record<string, string>): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const next = `${this.#file}.new`;
    writeFileSync(next, `${JSON.stringify(sealed, null, 2)}\n`, { mode: 0o600 });
    renameSync(next, this.#file);
  }
}
