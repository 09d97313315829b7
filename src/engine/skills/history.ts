import type { SkillAuthor, SkillVersion } from '../../shared/model.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { hashOf } from './folder.ts';

/** Who made a version, and from what. */
export interface Authorship {
  author: SkillAuthor;
  /** The accepted proposal that the version came from. */
  proposal?: string;
  /** One readable line, e.g. `Restored version 2`. */
  note?: string;
}

/** A change that was found in the folder: an editor, git, another tool. */
export const OUTSIDE: Authorship = { author: 'outside' };

interface Row {
  skill: string;
  version: number;
  hash: string | null;
  author: SkillAuthor;
  proposal: string | null;
  note: string;
  at: string;
  evidence: string | null;
}

/** The newest version of a skill; `hash` is null when that was its removal. */
type Latest = Pick<Row, 'version' | 'hash' | 'at' | 'proposal'>;

const COLUMNS = 'v.skill, v.version, v.hash, v.author, v.proposal, v.note, v.at, p.evidence';
const FROM = 'FROM skill_versions v LEFT JOIN proposals p ON p.id = v.proposal';

/** So many versions of a skill stay whatever their age, and so long all of them do. */
const KEPT_VERSIONS = 200;
const KEPT_MS = 90 * 24 * 3600 * 1000;

/**
 * Every text that a skill has had, by content, whoever wrote it; also of skills that are gone. Going back is a new
 * version with an old text; only what is both old and far back is ever taken out.
 */
export class SkillHistory {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #latest = new Map<string, Latest>();

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  /** Reads what is known, before the first `note`. */
  load(): void {
    const rows = this.#database.all<Pick<Row, 'skill'> & Latest>(
      // Of a group with max(), SQLite takes the other columns from the row that has it.
      'SELECT skill, max(version) AS version, hash, at, proposal FROM skill_versions GROUP BY skill',
    );
    for (const { skill, ...latest } of rows) this.#latest.set(skill, latest);
  }

  /** Takes out versions that are old and far back, and texts that no version, undo or proposal needs any more. */
  prune(): { versions: number; texts: number } {
    const before = new Date(this.#clock.now() - KEPT_MS).toISOString();
    return this.#database.tx(() => {
      const versions = this.#database.run(
        `DELETE FROM skill_versions WHERE at < ? AND version <= ? +
           (SELECT max(version) FROM skill_versions newer WHERE newer.skill = skill_versions.skill)`,
        before,
        -KEPT_VERSIONS,
      );
      const texts = this.#database.run(
        `DELETE FROM skill_texts WHERE
           hash NOT IN (SELECT hash FROM skill_versions WHERE hash IS NOT NULL)
           AND hash NOT IN (SELECT base_hash FROM proposals WHERE base_hash IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM undo WHERE instr(payload, skill_texts.hash) > 0)`,
      );
      return { versions, texts };
    });
  }

  /** The newest version; null for a skill that was never seen. */
  latest(name: string): Latest | null {
    return this.#latest.get(name) ?? null;
  }

  /** Names whose newest version is a text. */
  present(): string[] {
    return [...this.#latest].filter(([, { hash }]) => hash !== null).map(([name]) => name);
  }

  /** Adds a version unless the newest one has that text already. `file` is null when the skill is gone. */
  note(name: string, file: { hash: string; text: () => string } | null, by: Authorship): void {
    const before = this.#latest.get(name);
    const hash = file?.hash ?? null;
    if ((before?.hash ?? null) === hash) return;
    const version = (before?.version ?? 0) + 1;
    const at = new Date(this.#clock.now()).toISOString();
    this.#database.tx(() => {
      if (file)
        this.#database.run(
          'INSERT OR IGNORE INTO skill_texts (hash, text) VALUES (?, ?)',
          file.hash,
          file.text(),
        );
      this.#database.run(
        'INSERT INTO skill_versions (skill, version, hash, author, proposal, note, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        name,
        version,
        hash,
        by.author,
        by.proposal ?? null,
        by.note ?? '',
        at,
      );
    });
    this.#latest.set(name, { version, hash, at, proposal: by.proposal ?? null });
  }

  /** Keeps a text that is no version, for an undo that names it; returns its hash. */
  keep(text: string): string {
    const hash = hashOf(text);
    this.#database.run('INSERT OR IGNORE INTO skill_texts (hash, text) VALUES (?, ?)', hash, text);
    return hash;
  }

  /** A skill's versions, newest first; empty for a skill that was never seen. */
  list(name: string): SkillVersion[] {
    return this.#database
      .all<Row>(`SELECT ${COLUMNS} ${FROM} WHERE v.skill = ? ORDER BY v.version DESC LIMIT 500`, name)
      .map(toVersion);
  }

  /** The newest versions of all skills, newest first. */
  log(limit: number): SkillVersion[] {
    return this.#database
      .all<Row>(`SELECT ${COLUMNS} ${FROM} ORDER BY v.at DESC, v.skill, v.version DESC LIMIT ?`, limit)
      .map(toVersion);
  }

  /** The hash of one version; undefined when there is no such version, null when it is a removal. */
  hashOf(name: string, version: number): string | null | undefined {
    return this.#database.get<{ hash: string | null }>(
      'SELECT hash FROM skill_versions WHERE skill = ? AND version = ?',
      name,
      version,
    )?.hash;
  }

  /** A text by its hash; null when it was never a version. */
  text(hash: string): string | null {
    return (
      this.#database.get<{ text: string }>('SELECT text FROM skill_texts WHERE hash = ?', hash)?.text ?? null
    );
  }
}

function toVersion({ evidence, hash, ...row }: Row): SkillVersion {
  const turns = evidence === null ? [] : (JSON.parse(evidence) as { turnId: string }[]);
  return { ...row, removed: hash === null, turns: turns.map(({ turnId }) => turnId) };
}
