import type { RouteOutput } from '../../../shared/contract.ts';
import type { MemoryScope } from '../../../shared/memory.ts';
import { redact, redactJson } from '../../platform/redact.ts';
import type { Database } from '../../store/database.ts';
import type { ChangeRecord, Changes } from '../changes.ts';
import type { Rivals } from '../rivals.ts';
import type { ScopeTable } from '../scope.ts';
import type { TurnStore } from '../turns.ts';
import { hashOf, type UnitStore } from '../units.ts';
import type { Incoming, IncomingTurn, KeptUnit, ListedUnit } from './incoming.ts';

interface ImporterDeps {
  database: Database;
  changes: Changes;
  units: UnitStore;
  turns: TurnStore;
  rivals: Rivals;
  scopes: ScopeTable;
  /** Of each thing that these tell only the newest value stays current. */
  order: (units: readonly number[]) => void;
}

interface Options {
  /** Everything goes there, whatever the file says. */
  scope: MemoryScope | undefined;
  /** Where it goes when neither says. */
  ownScope: MemoryScope;
  dryRun: boolean;
}

type Result = RouteOutput<'memory.import'>;

/** So long one slice works before others have their turn. */
const SLICE_MS = 15;

/** Takes the records of a file into the store, a slice at a time, so that answers flow meanwhile. */
export class Importer {
  readonly #deps: ImporterDeps;

  constructor(deps: ImporterDeps) {
    this.#deps = deps;
  }

  /** What is there already is left as it is: the same file twice adds nothing. */
  async run(records: readonly Incoming[], options: Options): Promise<Result> {
    const { database, changes, order } = this.#deps;
    const done: ChangeRecord[] = [];
    const result: Result = { added: 0, merged: 0, turns: 0, skipped: [], undo: null };
    // What was said comes first, since memories point to it.
    const sorted = [
      ...records.filter(({ type }) => type === 'turn'),
      ...records.filter(({ type }) => type !== 'turn' && type !== 'conflict'),
      ...records.filter(({ type }) => type === 'conflict'),
    ];
    const seen = new Set<string>();
    const added: number[] = [];
    let at = 0;
    const slice = () => {
      const until = performance.now() + SLICE_MS;
      while (at < sorted.length && performance.now() < until) {
        const record = sorted[at];
        at += 1;
        if (record) this.#take(record, options, result, added, seen);
      }
    };
    while (at < sorted.length) {
      if (options.dryRun) database.rehearse(slice);
      else done.push(changes.slice(slice).record);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (options.dryRun) return result;
    done.push(changes.slice(() => order(added)).record);
    return { ...result, undo: changes.offerAll('Imported memories', done) };
  }

  #take(record: Incoming, options: Options, result: Result, added: number[], seen: Set<string>): void {
    switch (record.type) {
      case 'skipped':
        result.skipped.push({ line: record.line, reason: record.reason });
        return;
      case 'turn':
        if (this.#addTurn(record.turn, options)) result.turns += 1;
        return;
      case 'conflict':
        this.#addConflict(record);
        return;
      case 'kept': {
        const id = this.#keep(record.unit, options, seen);
        if (id === null) result.merged += 1;
        else {
          added.push(id);
          result.added += 1;
        }
        return;
      }
      case 'listed': {
        const scope = this.#scopeOf(record.unit.scope, options);
        const name = `${scope}\n${hashOf(redact(record.unit.content).text)}`;
        if (seen.has(name) || !this.#list(record.unit, scope)) result.merged += 1;
        else result.added += 1;
        seen.add(name);
      }
    }
  }

  #scopeOf(scope: MemoryScope | null, options: Options): number {
    return this.#deps.scopes.idFor(options.scope ?? scope ?? options.ownScope);
  }

  #addTurn(turn: IncomingTurn, options: Options): boolean {
    const row = this.#deps.turns.add({
      key: turn.key,
      scope: this.#scopeOf(turn.scope, options),
      session_id: turn.sessionId,
      turn_id: turn.turnId,
      role: turn.role,
      speaker: turn.speaker,
      text: redact(turn.text).text,
      said_at: turn.saidAt,
      unread: 0,
    });
    if (row !== null) this.#deps.changes.brought(row.id);
    return row !== null;
  }

  /** False when it says what is there already. */
  #list(unit: ListedUnit, scope: number): boolean {
    const { units } = this.#deps;
    if (unit.uuid !== null && units.get(unit.uuid) !== null) return false;
    const { uuid, ...rest } = unit;
    return !units.add({ ...rest, uuid: uuid ?? undefined, scope, origin: 'import' }).merged;
  }

  /** The number of its row; null when it is there already. */
  #keep(unit: KeptUnit, options: Options, seen: Set<string>): number | null {
    const { database, changes, units, rivals } = this.#deps;
    const scope = this.#scopeOf(unit.scope, options);
    const content = redact(unit.content.trim()).text;
    const hash = hashOf(content);
    if (seen.has(unit.uuid) || units.get(unit.uuid) !== null) return null;
    seen.add(unit.uuid);
    const tells = rivals.slotOf(unit.kind, content);
    const row = changes.insert(
      {
        uuid: unit.uuid,
        scope,
        kind: unit.kind,
        content,
        hash,
        slot: tells?.slot ?? null,
        value: tells?.value ?? null,
        mentions: unit.mentions,
        status: unit.status,
        status_before: null,
        pinned: unit.pinned ? 1 : 0,
        origin: unit.origin,
        importance: unit.importance,
        confidence: unit.confidence,
        observed_at: unit.observedAt,
        created_at: unit.createdAt,
        updated_at: unit.updatedAt,
        valid_from: unit.validFrom,
        valid_to: unit.validTo,
        expires_at: unit.expiresAt,
        superseded_by: unit.supersededBy,
        merged: unit.merged ? 1 : 0,
        tags: JSON.stringify(unit.tags),
        extra: unit.extra === null ? null : JSON.stringify(redactJson(unit.extra).value),
        forgotten_at: null,
      },
      'import',
      unit.history.map((event) => ({ ...event, detail: redact(event.detail).text })),
    );
    for (const { turnId, at } of unit.usedBy)
      database.run(
        'INSERT OR IGNORE INTO memory_uses (memory, turn_id, at) VALUES (?, ?, ?)',
        unit.uuid,
        turnId,
        at,
      );
    const turns = database.all<{ id: number }>(
      'SELECT id FROM memory_turns WHERE key IN (SELECT value FROM json_each(?))',
      JSON.stringify(unit.sources),
    );
    for (const { id } of turns) changes.addSource(row.id, id);
    return row.id;
  }

  #addConflict({ one, other, why, message, at, settled }: Extract<Incoming, { type: 'conflict' }>): void {
    this.#deps.database.run(
      `INSERT OR IGNORE INTO memory_conflicts (one, other, why, message, at, settled)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?1 IN (SELECT uuid FROM memory_units) AND ?2 IN (SELECT uuid FROM memory_units)`,
      ...([one, other].sort() as [string, string]),
      why,
      message,
      at,
      settled ? 1 : 0,
    );
  }
}
