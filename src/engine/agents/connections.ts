import { join } from 'node:path';
import type { AgentId } from '../../shared/connections.ts';
import { writeAtomic } from '../platform/files.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { FormatName, Trace } from './edit/index.ts';

/** A file that a connection changed, and how it is put back. */
export interface ConnectedFile {
  path: string;
  format: FormatName;
  /** False: it was made by us. */
  existed: boolean;
  mode: number | null;
  /** Its text without anything of ours. */
  base: string;
  /** Hash of its text with ours; while it has that, the former bytes can be put back whole. */
  after: string;
  /** Whether the agent takes its former bytes back; otherwise only its own command puts them back. */
  restorable: boolean;
  traces: Trace[];
}

/** What was changed for each connected agent: in the store, and a copy of each file in the state folder. */
export class Connections {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #backups: string;

  constructor(deps: { database: Database; clock: Clock; backups: string }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
    this.#backups = deps.backups;
  }

  has(agent: AgentId): boolean {
    return this.since(agent) !== null;
  }

  /** When it was connected; null when it is not. */
  since(agent: AgentId): string | null {
    const row = this.#database.get<{ at: string }>('SELECT at FROM agent_connections WHERE agent = ?', agent);
    return row?.at ?? null;
  }

  get(agent: AgentId): ConnectedFile[] | null {
    const row = this.#database.get<{ files: string }>(
      'SELECT files FROM agent_connections WHERE agent = ?',
      agent,
    );
    return row === null ? null : (JSON.parse(row.files) as ConnectedFile[]);
  }

  /** Keeps it before anything is written. A connection that is renewed keeps its date. */
  save(agent: AgentId, files: readonly ConnectedFile[]): void {
    const at = new Date(this.#clock.now()).toISOString();
    const stamp = at.replace(/[:.]/g, '-');
    for (const [index, { path, base, existed }] of files.entries()) {
      const name = path.split(/[\\/]/).at(-1) ?? 'settings';
      if (existed) writeAtomic(join(this.#backups, agent, `${stamp}-${index}-${name}`), base);
    }
    this.#database.run(
      `INSERT INTO agent_connections (agent, at, files) VALUES (?, ?, ?)
       ON CONFLICT (agent) DO UPDATE SET files = excluded.files`,
      agent,
      at,
      JSON.stringify(files),
    );
  }

  remove(agent: AgentId): void {
    this.#database.run('DELETE FROM agent_connections WHERE agent = ?', agent);
  }
}
