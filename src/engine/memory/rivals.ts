import type { MemoryConflict, MemoryKind, MemoryOrigin } from '../../shared/memory.ts';
import type { Database } from '../store/database.ts';
import type { UnitRow } from './rows.ts';
import { compareGists, exactOf, type Gist, gistOf, sketchOf } from './similar.ts';
import { contradicts, type Slots, slotsOf } from './slots/slots.ts';

/** A memory that is to be kept, as far as others are measured against it. */
export interface Newcomer {
  kind: MemoryKind;
  content: string;
  hash: string;
  scope: number;
  origin: MemoryOrigin;
  observedAt: string;
  sources: readonly number[];
}

/** A doubt that the user has to settle. */
interface Doubt {
  other: UnitRow;
  why: MemoryConflict['why'];
  message: string;
}

/** How a new memory stands to those that are there. */
export interface Standing {
  /** It says what this one says already. */
  same: UnitRow | null;
  slot: string | null;
  value: string | null;
  /** Current values that it replaces, and an older one whose time it ends earlier. */
  replaces: UnitRow[];
  /** A value that holds in its place. */
  under: UnitRow | null;
  /** When that one took its place; null where nobody can tell. */
  until: string | null;
  doubts: Doubt[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows of one word that are looked at; the newest. */
const PER_WORD = 100;
const MOST_CANDIDATES = 12;

/**
 * Compares memories: which say the same, which took whose place, and what only the user can tell. What the user
 * entered by hand outranks what was learned, what the user said outranks what the assistant said, and within that the
 * later statement holds, in whatever order they arrive.
 */
export class Rivals {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** `merging` off: only the very same text counts as the same. */
  standingOf(unit: Newcomer, merging: boolean): Standing {
    const slots = slotsOf(unit.kind, unit.content);
    const tells = [...slots.tells, ...this.#openTells(unit.scope, slots)];
    const [only] = tells.length === 1 ? tells : [];
    const standing: Standing = {
      same: this.#repeated(unit),
      slot: only?.slot ?? null,
      value: only?.value ?? null,
      replaces: [],
      under: null,
      until: null,
      doubts: [],
    };
    if (standing.same || !merging || unit.kind === 'working_summary') return standing;
    for (const tell of tells) {
      const there = this.#inSlot(unit.scope, tell.slot);
      const equal = there.find((row) => row.status === 'active' && row.value === tell.value);
      if (equal && slots.bare && tell === only && unit.observedAt >= (equal.valid_from ?? '')) {
        standing.same = equal;
        return standing;
      }
      const against = there.filter((row) => contradicts(tell.slot, row.value ?? '', tell.value));
      this.#measure(unit, slots, against, standing);
    }
    for (const end of slots.ends)
      for (const row of this.#inSlot(unit.scope, end.slot))
        if (
          row.status === 'active' &&
          contradicts(end.slot, row.value ?? '', `!${end.value}`) &&
          !standing.replaces.some(({ id }) => id === row.id)
        )
          this.#measure(unit, slots, [row], standing);
    if (standing.replaces.length === 0 && standing.under === null) this.#compareWords(unit, standing);
    return standing;
  }

  /** What a memory tells the value of, if it is one thing. */
  slotOf(kind: MemoryKind, content: string): { slot: string; value: string } | null {
    const { tells } = slotsOf(kind, content);
    return tells.length === 1 && tells[0] ? tells[0] : null;
  }

  /** Whether the later of two memories of one slot may take the other's place by rule. */
  mayReplace(later: UnitRow, earlier: UnitRow): boolean {
    const rank = this.#rankOf(later);
    return rank >= this.#rankOf(earlier) || (rank >= 2 && slotsOf(later.kind, later.content).changed);
  }

  /** Entered or rewritten by the user. */
  isUsersOwn(row: UnitRow): boolean {
    return this.#rankOf(row) === 3;
  }

  #openTells(scope: number, { ends }: Slots) {
    return ends.flatMap(({ slot, value, instead }) =>
      instead && this.#inSlot(scope, slot).some((row) => row.value === value) ? [instead] : [],
    );
  }

  /** The same text: a current memory, an older value that is only told again, or one that was forgotten. */
  #repeated({ kind, hash, scope, origin, observedAt }: Newcomer): UnitRow | null {
    if (kind === 'working_summary') return null;
    const rows = this.#database.all<UnitRow>(
      'SELECT * FROM memory_units WHERE scope = ? AND hash = ? ORDER BY id LIMIT 50',
      scope,
      hash,
    );
    const learned = origin === 'rules' || origin === 'llm';
    return (
      rows.find((row) => row.status === 'active' && isSameTime(kind, row.observed_at, observedAt)) ??
      rows.find((row) => row.status === 'superseded' && observedAt <= (row.valid_to ?? row.observed_at)) ??
      rows.find((row) => learned && row.status === 'forgotten' && observedAt <= (row.forgotten_at ?? '')) ??
      null
    );
  }

  #inSlot(scope: number, slot: string): UnitRow[] {
    return this.#database.all<UnitRow>(
      `SELECT * FROM memory_units WHERE scope = ? AND slot = ? AND status IN ('active', 'superseded') AND merged = 0
       ORDER BY observed_at DESC, id DESC LIMIT 200`,
      scope,
      slot,
    );
  }

  #measure(unit: Newcomer, slots: Slots, against: readonly UnitRow[], standing: Standing): void {
    const later = against.filter((row) => row.observed_at > unit.observedAt).at(-1);
    if (later) {
      standing.under = later;
      standing.until = later.valid_from ?? later.observed_at;
      const before = against.find(
        (row) => row.observed_at <= unit.observedAt && row.superseded_by === later.uuid,
      );
      if (before) standing.replaces.push(before);
      return;
    }
    const rank = this.#rankOf(unit);
    for (const row of against.filter(({ status }) => status === 'active')) {
      if (rank >= this.#rankOf(row) || (rank >= 2 && slots.changed)) {
        standing.replaces.push(row);
        continue;
      }
      standing.under = row;
      standing.doubts.push({
        other: row,
        why: 'contradiction',
        message:
          row.origin === 'user'
            ? 'A later conversation says otherwise than what you entered.'
            : 'The assistant says otherwise than you did.',
      });
    }
  }

  /** 3: entered by the user. 2: said by the user, or imported. 1: said by the assistant only. */
  #rankOf(unit: { origin: MemoryOrigin; sources: readonly number[] } | UnitRow): 1 | 2 | 3 {
    if (unit.origin === 'user') return 3;
    if (unit.origin === 'import') return 2;
    if ('uuid' in unit) {
      const edited = this.#database.get(
        "SELECT 1 FROM memory_events WHERE unit = ? AND what = 'edited' AND by = 'user' LIMIT 1",
        unit.id,
      );
      if (edited !== null) return 3;
    }
    const roles =
      'uuid' in unit
        ? this.#database.all<{ role: string }>(
            'SELECT DISTINCT t.role FROM memory_sources s JOIN memory_turns t ON t.id = s.turn WHERE s.unit = ?',
            unit.id,
          )
        : this.#database.all<{ role: string }>(
            'SELECT DISTINCT role FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))',
            JSON.stringify(unit.sources),
          );
    return roles.length > 0 && roles.every(({ role }) => role === 'assistant') ? 1 : 2;
  }

  #compareWords(unit: Newcomer, standing: Standing): void {
    const gist = gistOf(unit.content);
    for (const row of this.#candidates(unit.scope, gist)) {
      if (exactOf(row.content) !== gist.exact) continue;
      const likeness = compareGists(gist, gistOf(row.content));
      if (likeness === 'same' && isSameTime(unit.kind, row.observed_at, unit.observedAt)) {
        standing.same = row;
        return;
      }
      if (likeness === 'opposite')
        standing.doubts.push({
          other: row,
          why: 'contradiction',
          message: 'One denies what the other says.',
        });
      else if (likeness === 'near')
        standing.doubts.push({ other: row, why: 'near-duplicate', message: 'They say nearly the same.' });
    }
  }

  /** Current memories that share words with a text, the likeliest first. Bounded, however many there are. */
  #candidates(scope: number, gist: Gist): UnitRow[] {
    const words = sketchOf(gist);
    if (words.length === 0) return [];
    const counts = new Map<number, number>();
    for (const [at, word] of words.entries())
      for (const { unit } of this.#database.all<{ unit: number }>(
        'SELECT unit FROM memory_sketches WHERE scope = ? AND word = ? ORDER BY unit DESC LIMIT ?',
        scope,
        word,
        PER_WORD,
      ))
        counts.set(unit, (counts.get(unit) ?? 0) + (at === 0 ? words.length : 1));
    const least = Math.min(2, words.length - 1);
    const ids = [...counts]
      .filter(([, count]) => count >= least)
      .sort((a, b) => b[1] - a[1] || b[0] - a[0])
      .slice(0, MOST_CANDIDATES)
      .map(([id]) => id);
    if (ids.length === 0) return [];
    return this.#database.all<UnitRow>(
      `SELECT u.* FROM json_each(?) j CROSS JOIN memory_units u ON u.id = j.value
       WHERE u.status = 'active' AND u.kind <> 'working_summary' ORDER BY j.key`,
      JSON.stringify(ids),
    );
  }
}

/** What happened on two days happened twice, in whatever words. */
function isSameTime(kind: MemoryKind, one: string, other: string): boolean {
  return kind !== 'episodic' || Math.abs(Date.parse(one) - Date.parse(other)) < DAY_MS;
}
