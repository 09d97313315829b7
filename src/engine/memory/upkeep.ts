import { randomUUID } from 'node:crypto';
import type { RouteOutput } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryConflict } from '../../shared/memory.ts';
import { redact } from '../platform/redact.ts';
import type { Database } from '../store/database.ts';
import type { Changes } from './changes.ts';
import type { Listing } from './listing.ts';
import type { Rivals } from './rivals.ts';
import type { UnitRow } from './rows.ts';
import { compareGists, type Gist, gistOf } from './similar.ts';
import { contradicts } from './slots/slots.ts';
import { hashOf, type UnitStore } from './units.ts';

interface UpkeepDeps {
  database: Database;
  changes: Changes;
  units: UnitStore;
  rivals: Rivals;
  listing: Listing;
}

interface ConflictRow {
  one: string;
  other: string;
  why: MemoryConflict['why'];
  message: string;
}

const MOST_CONFLICTS = 500;
/** Memories of the same words that are compared with each other. */
const MOST_ALIKE = 300;

/** Keeps the memories in order among themselves: what is in doubt, what is merged, what nobody has sorted yet. */
export class Upkeep {
  readonly #deps: UpkeepDeps;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
  }

  /** Newest first. */
  conflicts(): MemoryConflict[] {
    const { database, listing } = this.#deps;
    // A doubt is over when both are, or when something else took the place of one.
    const rows = database.all<ConflictRow>(
      `SELECT c.one, c.other, c.why, c.message FROM memory_conflicts c
       JOIN memory_units a ON a.uuid = c.one JOIN memory_units b ON b.uuid = c.other
       WHERE c.settled = 0 AND (
         (a.status = 'active' AND b.status = 'active')
         OR (c.why = 'contradiction' AND a.status = 'active' AND b.status = 'superseded' AND b.superseded_by = a.uuid)
         OR (c.why = 'contradiction' AND b.status = 'active' AND a.status = 'superseded' AND a.superseded_by = b.uuid))
       ORDER BY c.at DESC, c.one, c.other LIMIT ?`,
      MOST_CONFLICTS,
    );
    const units = new Map(
      listing
        .byUuid([...new Set(rows.flatMap((row) => [row.one, row.other]))])
        .map((unit) => [unit.id, unit]),
    );
    return rows.flatMap(({ one, other, why, message }) => {
      const [first, second] = [units.get(one), units.get(other)];
      return first && second ? [{ id: `${one}.${other}`, why, message, one: first, other: second }] : [];
    });
  }

  /** Call it in a change. */
  settle(id: string, keep: 'one' | 'other' | 'both'): void {
    const { database, changes, units } = this.#deps;
    const [one = '', other = ''] = id.split('.');
    const conflict = database.get<ConflictRow>(
      'SELECT one, other, why, message FROM memory_conflicts WHERE one = ? AND other = ? AND settled = 0',
      one,
      other,
    );
    const [first, second] = [units.get(one), units.get(other)];
    if (!conflict || !first || !second)
      throw new AppError('NOT_FOUND', 'There is no such conflict, or it has been settled.', {
        hint: 'metaclaw memory conflicts lists those that wait.',
      });
    changes.settled(one, other);
    for (const row of [first, second])
      if (row.status === 'superseded' && keep !== (row === first ? 'other' : 'one'))
        changes.patch(
          [row.id],
          { status: 'active', superseded_by: null, valid_to: null },
          { what: 'restored', by: 'user' },
        );
    if (keep === 'both') return;
    const [kept, dropped] = keep === 'one' ? [first, second] : [second, first];
    const [now, old] = [units.get(kept.uuid), units.get(dropped.uuid)];
    if (!now || !old || old.superseded_by === now.uuid) return;
    if (conflict.why === 'near-duplicate') units.absorb([old], now, 'user');
    else units.supersede(old, now, 'user');
  }

  /** Several become one, with words of the user's; call it in a change. */
  merge(uuids: readonly string[], content: string): UnitRow {
    const { changes, units, rivals } = this.#deps;
    const rows = [...new Set(uuids)].map((uuid) => {
      const row = units.get(uuid);
      if (row && row.status !== 'forgotten') return row;
      throw new AppError('NOT_FOUND', `There is no memory ${uuid}.`, { field: 'ids' });
    });
    const [first] = rows;
    if (!first || rows.length < 2)
      throw new AppError('BAD_INPUT', 'Merging takes two memories or more.', { field: 'ids' });
    if (rows.some(({ scope }) => scope !== first.scope))
      throw new AppError('BAD_INPUT', 'These memories are of different scopes, so they cannot become one.', {
        hint: 'Move them to one scope first.',
        field: 'ids',
      });
    const text = redact(content.trim()).text;
    const now = changes.now();
    const tells = rivals.slotOf(first.kind, text);
    const newest =
      rows
        .map(({ observed_at }) => observed_at)
        .sort()
        .at(-1) ?? now;
    const { id: _, ...like } = first;
    const merged = changes.insert(
      {
        ...like,
        uuid: randomUUID(),
        content: text,
        hash: hashOf(text),
        slot: tells?.slot ?? null,
        value: tells?.value ?? null,
        mentions: 0,
        status: 'active',
        status_before: null,
        pinned: 0,
        origin: 'user',
        importance: Math.max(...rows.map(({ importance }) => importance)),
        confidence: Math.max(...rows.map(({ confidence }) => confidence)),
        observed_at: newest,
        created_at: now,
        updated_at: now,
        valid_from: newest,
        valid_to: null,
        superseded_by: null,
        merged: 0,
        tags: JSON.stringify([...new Set(rows.flatMap(({ tags }) => JSON.parse(tags) as string[]))]),
        extra: null,
        forgotten_at: null,
      },
      'user',
    );
    units.absorb(rows, merged, 'user');
    return merged;
  }

  /** Sorts what was added while nothing was sorted, e.g. with memory.auto_consolidate off. Call it in a change. */
  consolidate(): Omit<RouteOutput<'memory.consolidate'>, 'undo'> {
    const expired = this.#deps.units.expire();
    const before = this.conflicts().length;
    const superseded = this.#mergeSame() + this.#orderSlots(null);
    return { superseded, expired, conflicts: Math.max(0, this.conflicts().length - before) };
  }

  /** What the user has written takes the place of what was learned; against another entry of the user's it waits. */
  reworded(uuid: string): void {
    const { database, changes, units, rivals } = this.#deps;
    const row = units.get(uuid);
    if (row?.status !== 'active' || row.slot === null) return;
    const { slot, value } = row;
    const others = database.all<UnitRow>(
      "SELECT * FROM memory_units WHERE scope = ? AND slot = ? AND status = 'active' AND id <> ?",
      row.scope,
      slot,
      row.id,
    );
    for (const other of others.filter((one) => contradicts(slot, one.value ?? '', value ?? '')))
      if (rivals.isUsersOwn(other))
        changes.doubt(row.uuid, other.uuid, 'contradiction', 'You entered two values for the same thing.');
      else units.supersede(other, row, 'user', changes.now());
  }

  /** Of each thing that these memories tell, only the newest value stays current; after something was brought back. */
  order(units: readonly number[]): number {
    return this.#orderSlots(units);
  }

  #mergeSame(): number {
    const { database, units, changes } = this.#deps;
    const words = database.all<{ scope: number; word: number }>(
      `SELECT s.scope, s.word FROM memory_sketches s JOIN memory_units u ON u.id = s.unit
       WHERE s.word < 0 AND u.status = 'active' AND u.kind NOT IN ('working_summary', 'episodic')
       GROUP BY s.scope, s.word HAVING COUNT(*) > 1`,
    );
    let merged = 0;
    for (const { scope, word } of words) {
      const rows = database.all<UnitRow>(
        `SELECT u.* FROM memory_sketches s JOIN memory_units u ON u.id = s.unit
         WHERE s.scope = ? AND s.word = ? AND u.status = 'active' AND u.kind NOT IN ('working_summary', 'episodic')
         ORDER BY u.origin = 'user' DESC, u.observed_at, u.id LIMIT ?`,
        scope,
        word,
        MOST_ALIKE,
      );
      const kept: { row: UnitRow; gist: Gist }[] = [];
      for (const row of rows) {
        const gist = gistOf(row.content);
        const same = kept.find((one) => compareGists(gist, one.gist) === 'same');
        if (same) {
          units.absorb([row], units.get(same.row.uuid) ?? same.row, 'rules');
          merged += 1;
          continue;
        }
        for (const one of kept)
          if (one.row.slot === null && compareGists(gist, one.gist) === 'opposite')
            changes.doubt(row.uuid, one.row.uuid, 'contradiction', 'One denies what the other says.');
        kept.push({ row, gist });
      }
    }
    return merged;
  }

  #orderSlots(among: readonly number[] | null): number {
    const { database, units, rivals, changes } = this.#deps;
    const slots = database.all<{ scope: number; slot: string }>(
      `SELECT scope, slot FROM memory_units WHERE status = 'active' AND slot IS NOT NULL
       ${among === null ? '' : 'AND (scope, slot) IN (SELECT scope, slot FROM memory_units WHERE id IN (SELECT value FROM json_each(?)))'}
       GROUP BY scope, slot HAVING COUNT(*) > 1`,
      ...(among === null ? [] : [JSON.stringify(among)]),
    );
    let superseded = 0;
    for (const { scope, slot } of slots) {
      const rows = database.all<UnitRow>(
        `SELECT * FROM memory_units WHERE scope = ? AND slot = ? AND status = 'active'
         ORDER BY observed_at DESC, id DESC`,
        scope,
        slot,
      );
      const current: UnitRow[] = [];
      for (const row of rows) {
        const later = current.find((one) => contradicts(slot, one.value ?? '', row.value ?? ''));
        if (!later) current.push(row);
        else if (rivals.mayReplace(later, row)) {
          units.supersede(row, later, 'rules');
          superseded += 1;
        } else changes.doubt(row.uuid, later.uuid, 'contradiction', 'A later conversation says otherwise.');
      }
    }
    return superseded;
  }
}
