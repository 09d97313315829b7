import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { MIGRATIONS } from '../../../src/engine/store/migrations.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mc-store-'));
  path = join(folder, 'state.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const setting = (key: string, value: string) =>
  ['INSERT INTO settings (key, value) VALUES (?, ?)', key, value] as const;

describe('opening', () => {
  // Conversations readable by every user of the machine.
  it('keeps the file and its log to the owner', () => {
    const { database } = openDatabase(path);
    database.run(...setting('a', '1'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    database.close();
  });

  // A second start that loses or repeats migrations.
  it('finds again what was committed', () => {
    const first = openDatabase(path).database;
    first.run(...setting('a', '1'));
    first.close();
    const { database, setAside } = openDatabase(path);
    expect(setAside).toBeNull();
    expect(database.all('SELECT * FROM settings')).toEqual([{ key: 'a', value: '1' }]);
    expect(database.get('PRAGMA user_version')).toEqual({ user_version: MIGRATIONS.length });
    database.close();
  });

  // What stands in for a store that cannot be opened must not need a folder that can be written either.
  it('in memory leaves no file behind', () => {
    const { database } = openDatabase(':memory:');
    database.run(...setting('a', '1'));
    expect(database.all('SELECT * FROM settings')).toHaveLength(1);
    database.close();
    expect(existsSync(':memory:')).toBe(false);
  });

  // A file that cannot be read stops the proxy, or is thrown away with what could be rescued (R151).
  it.each([
    [
      'garbage',
      (file: string) =>
        writeFileSync(file, 'this is no database, and it is longer than a header '.repeat(50)),
    ],
    ['cut to 4096 bytes', (file: string) => truncateSync(file, 4096)],
    [
      'overwritten in the middle',
      (file: string) => {
        const bytes = readFileSync(file);
        bytes.fill(0xab, 4096, 4096 * 6);
        writeFileSync(file, bytes);
      },
    ],
  ])('sets a damaged file aside: %s', (_name, damage) => {
    const first = openDatabase(path).database;
    first.tx(() => {
      for (let i = 0; i < 500; i += 1) first.run(...setting(`key ${i}`, 'x'.repeat(100)));
    });
    first.close();
    damage(path);
    const damaged = readFileSync(path);
    const { database, setAside } = openDatabase(path);
    expect(setAside).not.toBeNull();
    expect(readFileSync(setAside as string)).toEqual(damaged);
    expect(database.all('SELECT * FROM settings')).toEqual([]);
    database.run(...setting('a', '1'));
    database.close();
  });

  // An older app that writes into a newer schema.
  it('refuses a newer schema and changes nothing', () => {
    const first = openDatabase(path).database;
    first.run('PRAGMA user_version = 999');
    first.close();
    const before = readFileSync(path);
    expect(() => openDatabase(path)).toThrow(expect.objectContaining({ code: 'STATE_TOO_NEW' }));
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder).filter((name) => !/^state\.db(-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it('says what is wrong when the folder cannot be used', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => openDatabase(join(folder, 'file', 'state.db'))).toThrow();
    expect(() => openDatabase(folder)).toThrow(expect.objectContaining({ code: 'STORE_UNREADABLE' }));
  });
});

describe('migrating', () => {
  // A migration that fails half-way or goes wrong, with no way back.
  it('keeps a copy of the file as it was', () => {
    const first = openDatabase(path).database;
    first.run(...setting('a', '1'));
    first.close();
    const steps = [
      ...MIGRATIONS,
      'CREATE TABLE later (x TEXT); INSERT INTO later SELECT value FROM settings',
    ];
    const { database } = openDatabase(path, { migrations: steps });
    expect(database.all('SELECT x FROM later')).toEqual([{ x: '1' }]);
    database.close();
    const copy = readdirSync(folder).find((name) => name.includes('.before-v')) as string;
    expect(statSync(join(folder, copy)).mode & 0o777).toBe(0o600);
    const old = openDatabase(join(folder, copy)).database;
    expect(old.get('PRAGMA user_version')).toEqual({ user_version: MIGRATIONS.length });
    expect(old.all('SELECT value FROM settings')).toEqual([{ value: '1' }]);
    old.close();
  });

  it('leaves no trace of a migration that fails', () => {
    openDatabase(path).database.close();
    const steps = [...MIGRATIONS, 'CREATE TABLE later (x TEXT); INSERT INTO nowhere VALUES (1)'];
    expect(() => openDatabase(path, { migrations: steps })).toThrow(
      expect.objectContaining({ code: 'STORE_UNREADABLE' }),
    );
    const { database, setAside } = openDatabase(path);
    expect(setAside).toBeNull();
    expect(database.get('PRAGMA user_version')).toEqual({ user_version: MIGRATIONS.length });
    expect(database.all("SELECT name FROM sqlite_master WHERE name = 'later'")).toEqual([]);
    database.close();
  });
});

describe('transactions', () => {
  // Half of a change that stays behind.
  it('roll back as a whole, also what an inner one did', () => {
    const { database } = openDatabase(path);
    expect(() =>
      database.tx(() => {
        database.run(...setting('a', '1'));
        database.tx(() => database.run(...setting('b', '1')));
        throw new Error('stop');
      }),
    ).toThrow('stop');
    expect(database.all('SELECT * FROM settings')).toEqual([]);
    database.tx(() => database.run(...setting('c', '1')));
    expect(database.all('SELECT key FROM settings')).toEqual([{ key: 'c' }]);
    database.close();
  });

  // A forgotten memory that can still be read in the file.
  it('leaves nothing of what was rewritten or deleted in the file', () => {
    const { database } = openDatabase(path);
    const long = `hush-long ${'x'.repeat(9000)}`;
    database.run(...setting('a', 'hush-short'));
    database.run(...setting('b', long));
    database.run("UPDATE settings SET value = 'a value that needs more room than before' WHERE key = 'a'");
    database.run("UPDATE settings SET value = '' WHERE key = 'b'");
    database.close();
    expect(readFileSync(path).includes('hush')).toBe(false);
  });

  it('copies a consistent whole while it is open', () => {
    const { database } = openDatabase(path);
    database.run(...setting('a', '1'));
    const copy = join(folder, 'copy.db');
    database.copyTo(copy);
    database.close();
    expect(existsSync(copy)).toBe(true);
    const second = openDatabase(copy).database;
    expect(second.all('SELECT key FROM settings')).toEqual([{ key: 'a' }]);
    second.close();
  });
});

describe('a snapshot', () => {
  it('sees what was there, not what comes later, and cannot write', () => {
    const { database } = openDatabase(path);
    database.run(...setting('a', '1'));
    const snapshot = database.snapshot();
    database.run(...setting('b', '2'));
    expect(snapshot?.all('SELECT key FROM settings')).toEqual([{ key: 'a' }]);
    expect(() => snapshot?.run(...setting('c', '3'))).toThrow(/readonly|read-only/i);
    snapshot?.close();
    database.run(...setting('d', '4'));
    expect(database.all('SELECT key FROM settings')).toEqual([{ key: 'a' }, { key: 'b' }, { key: 'd' }]);
    database.close();
    expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0);
  });
  it('is not to be had of what has no file', () => {
    const { database } = openDatabase(':memory:');
    expect(database.snapshot()).toBeNull();
    database.close();
  });
});
