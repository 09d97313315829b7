import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import { MIGRATIONS } from './migrations.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;

/** The part of the node:sqlite API that is used here; both drivers have it. */
interface Statement {
  all(...params: SqlValue[]): unknown[];
  get(...params: SqlValue[]): unknown;
  run(...params: SqlValue[]): { changes: number | bigint };
}
interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
type DriverConstructor = new (path: string, options?: { readOnly: boolean }) => Driver;

/** node:sqlite where the runtime has it (Node 22.13, Electron 35); elsewhere the same API with prebuilt binaries. */
function loadDriver(): DriverConstructor {
  const builtin = (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule?.(
    'node:sqlite',
  );
  const module = builtin ?? createRequire(import.meta.url)('@photostructure/sqlite');
  return (module as { DatabaseSync: DriverConstructor }).DatabaseSync;
}

/** Larger files are only checked after an unclean end: the check reads the whole file. */
const ALWAYS_CHECKED_BYTES = 32 * 1024 * 1024;

export interface DatabaseOptions {
  /** Called for each statement that took longer than 40 ms. */
  onSlow?: (sql: string, ms: number) => void;
  /** Other than the product's own; for tests of migrating. */
  migrations?: readonly string[];
}

const REHEARSED = Symbol('rehearsed');

/** The engine's one SQLite file: prepared statements are cached, transactions nest by joining. */
export class Database {
  readonly #driver: Driver;
  readonly #statements = new Map<string, Statement>();
  readonly #onSlow: (sql: string, ms: number) => void;
  readonly #isSnapshot: boolean;
  #depth = 0;

  constructor(driver: Driver, onSlow: (sql: string, ms: number) => void, isSnapshot = false) {
    this.#driver = driver;
    this.#onSlow = onSlow;
    this.#isSnapshot = isSnapshot;
  }

  /** All rows. `Row` is trusted: the schema is ours. */
  all<Row>(sql: string, ...params: SqlValue[]): Row[] {
    return this.#timed(sql, (statement) => statement.all(...params) as Row[]);
  }

  /** The first row, or null. */
  get<Row>(sql: string, ...params: SqlValue[]): Row | null {
    return this.#timed(sql, (statement) => (statement.get(...params) as Row | undefined) ?? null);
  }

  /** Runs a write and returns the number of changed rows. */
  run(sql: string, ...params: SqlValue[]): number {
    return this.#timed(sql, (statement) => Number(statement.run(...params).changes));
  }

  /** Runs `fn` in one transaction; an exception rolls everything back. */
  tx<T>(fn: () => T): T {
    if (this.#depth > 0) return fn();
    this.#driver.exec('BEGIN IMMEDIATE');
    this.#depth += 1;
    try {
      const result = fn();
      this.#driver.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /** As `tx`; inside of a transaction, an exception takes back the writes of `fn` alone. */
  part<T>(fn: () => T): T {
    if (this.#depth === 0) return this.tx(fn);
    this.#driver.exec('SAVEPOINT part');
    try {
      const result = fn();
      this.#driver.exec('RELEASE part');
      return result;
    } catch (error) {
      this.#takeBackPart();
      throw error;
    }
  }

  /** Runs `fn` and takes back all that it wrote. */
  rehearse<T>(fn: () => T): T {
    let result: { value: T } | null = null;
    try {
      this.tx(() => {
        result = { value: fn() };
        throw REHEARSED;
      });
    } catch (error) {
      if (error !== REHEARSED) throw error;
    }
    return (result as { value: T } | null)?.value as T;
  }

  /** Writes a consistent copy to `path`, which must not exist. */
  copyTo(path: string): void {
    this.#driver.prepare('VACUUM INTO ?').run(path);
  }

  /**
   * The database as it is now, whatever is written meanwhile: a second connection that can only read. Close it soon,
   * since the log grows until then. Null for a database without a file.
   */
  snapshot(): Database | null {
    const file = this.get<{ file: string }>(
      "SELECT file FROM pragma_database_list WHERE name = 'main'",
    )?.file;
    if (!file) return null;
    const Driver = loadDriver();
    const driver = new Driver(file, { readOnly: true });
    driver.exec('PRAGMA busy_timeout = 2000');
    driver.exec('BEGIN');
    // The first read is what holds the state.
    driver.prepare('SELECT count(*) FROM sqlite_schema').get();
    return new Database(driver, this.#onSlow, true);
  }

  close(): void {
    this.#statements.clear();
    if (this.#isSnapshot) {
      // Statements that wait for the garbage collector would keep the state, and with it the log.
      this.#driver.exec('ROLLBACK');
      this.#driver.close();
    } else closeDriver(this.#driver);
  }

  /** SQLite may have rolled back by itself already, e.g. when the disk is full; the first error is the one to show. */
  #rollBack(): void {
    try {
      this.#driver.exec('ROLLBACK');
    } catch (error) {
      if (!/no transaction/i.test(messageOf(error))) throw error;
    }
  }

  /** Nothing is left to take back when SQLite rolled back the whole transaction. */
  #takeBackPart(): void {
    try {
      this.#driver.exec('ROLLBACK TO part');
      this.#driver.exec('RELEASE part');
    } catch (error) {
      if (!/no such savepoint/i.test(messageOf(error))) throw error;
    }
  }

  #timed<T>(sql: string, use: (statement: Statement) => T): T {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#driver.prepare(sql);
      this.#statements.set(sql, statement);
    }
    const start = performance.now();
    const result = use(statement);
    const ms = performance.now() - start;
    if (ms > 40) this.#onSlow(sql, ms);
    return result;
  }
}

/**
 * Opens (and creates or migrates) the database.
 *
 * A file that SQLite cannot read is set aside as `<path>.damaged-<time>` and a fresh one is made, so that the
 * proxy always starts; `setAside` tells the caller, who must say so. A file of a newer version is refused.
 */
export function openDatabase(
  path: string,
  options: DatabaseOptions = {},
): { database: Database; setAside: string | null } {
  const onSlow = options.onSlow ?? (() => {});
  const migrations = options.migrations ?? MIGRATIONS;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    return { database: open(path, migrations, onSlow), setAside: null };
  } catch (error) {
    if (error instanceof AppError || !isDamage(error)) throw asStoreError(path, error);
    const setAside = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    for (const suffix of ['', '-wal', '-shm'])
      if (existsSync(path + suffix)) renameSync(path + suffix, setAside + suffix);
    return { database: open(path, migrations, onSlow), setAside };
  }
}

/**
 * Lets `use` read a SQLite file of another program. It reads a copy, which is deleted, so that the file, its log and
 * its locks are left alone. BAD_INPUT when it is no such file or damaged; both messages name it.
 */
export function readCopy<T>(path: string, use: (database: Pick<Database, 'all' | 'get'>) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'metaclaw-copy-'));
  const copy = join(folder, 'copy.db');
  try {
    for (const suffix of ['', '-wal'])
      if (suffix === '' || existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    chmodSync(copy, 0o600);
    const driver = new (loadDriver())(copy);
    try {
      const check = driver.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
      if (check.quick_check !== 'ok') throw new Error(`malformed: ${check.quick_check}`);
      return use(new Database(driver, () => {}));
    } finally {
      driver.close();
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (isDamage(error))
      throw new AppError('BAD_INPUT', `${path} is no SQLite database, or it is damaged.`, {
        hint: 'Is this the right file? Stop the program that writes to it, then try again.',
        field: 'path',
        cause: error,
      });
    throw new AppError('STORE_UNREADABLE', `${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Check its owner and permissions.',
      field: 'path',
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

function open(
  path: string,
  migrations: readonly string[],
  onSlow: (sql: string, ms: number) => void,
): Database {
  const Driver = loadDriver();
  const existed = existsSync(path);
  // A log that is still there means that the last owner did not close; SQLite replays it on the first read.
  const unclean = sizeOf(`${path}-wal`) > 0;
  // Conversations are nobody else's business; the -wal and -shm files take over this mode. An existing file is never
  // opened beside SQLite: closing it would drop the locks that this process holds on it.
  if (existed) chmodSync(path, 0o600);
  else if (path !== IN_MEMORY) closeSync(openSync(path, 'wx', 0o600));
  const driver = new Driver(path);
  try {
    driver.exec('PRAGMA busy_timeout = 2000');
    const version = (driver.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
    if (version > migrations.length)
      throw new AppError('STATE_TOO_NEW', `${path} was written by a newer MetaClaw (schema ${version}).`, {
        hint: 'Update MetaClaw, or set METACLAW_HOME to another folder.',
      });
    driver.exec('PRAGMA journal_mode = WAL');
    driver.exec('PRAGMA synchronous = NORMAL');
    driver.exec('PRAGMA foreign_keys = ON');
    // What is rewritten or deleted must not stay readable in the file's unused space.
    driver.exec('PRAGMA secure_delete = ON');
    if (unclean || sizeOf(path) < ALWAYS_CHECKED_BYTES) {
      const check = driver.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
      if (check.quick_check !== 'ok')
        throw new Error(`database disk image is malformed: ${check.quick_check}`);
    }
    if (existed && version > 0 && version < migrations.length) backUp(driver, path, migrations.length);
    for (let next = version; next < migrations.length; next += 1)
      driver.exec(`BEGIN IMMEDIATE; ${migrations[next]}; PRAGMA user_version = ${next + 1}; COMMIT`);
    return new Database(driver, onSlow);
  } catch (error) {
    closeDriver(driver);
    throw error;
  }
}

/**
 * Writes the log back and closes. Drivers that leave statements to the garbage collector keep the file open for a
 * while; the emptied log then still says that this was a clean end.
 */
function closeDriver(driver: Driver): void {
  try {
    driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // Damaged, or held by another process: what was committed stands in the log and is found at the next start.
    if (!/malformed|not a database|locked|busy|i\/o|full|readonly/i.test(messageOf(error))) throw error;
  } finally {
    driver.close();
  }
}

/** Copies the file as it is before migrations change it. */
function backUp(driver: Driver, path: string, version: number): void {
  const copy = `${path}.before-v${version}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  closeSync(openSync(copy, 'ax', 0o600));
  driver.prepare('VACUUM INTO ?').run(copy);
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

function isDamage(error: unknown): boolean {
  return /malformed|not a database|file is encrypted|disk image/i.test(messageOf(error));
}

function asStoreError(path: string, error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = messageOf(error);
  return new AppError('STORE_UNREADABLE', `${path} cannot be opened: ${message}`, {
    hint: /locked|busy/i.test(message)
      ? 'Another program holds the file; close it and start again.'
      : 'Check that the folder is writable and that the disk is not full.',
    cause: error,
  });
}
