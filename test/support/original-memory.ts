import { type Database, openDatabase } from '../../src/engine/store/database.ts';

/** The tables of the original's memory.db, schema 6, as its users have them. */
const SCHEMA = `
  CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at TEXT NOT NULL);
  INSERT INTO schema_version VALUES (6, '2025-03-01T00:00:00+00:00');
  CREATE TABLE memories (
    memory_id TEXT PRIMARY KEY, scope_id TEXT NOT NULL, memory_type TEXT NOT NULL, content TEXT NOT NULL,
    summary TEXT DEFAULT '', source_session_id TEXT DEFAULT '', source_turn_start INTEGER DEFAULT 0,
    source_turn_end INTEGER DEFAULT 0, entities_json TEXT DEFAULT '[]', topics_json TEXT DEFAULT '[]',
    importance REAL DEFAULT 0.5, confidence REAL DEFAULT 0.7, access_count INTEGER DEFAULT 0,
    reinforcement_score REAL DEFAULT 0.0, status TEXT DEFAULT 'active', supersedes_json TEXT DEFAULT '[]',
    superseded_by TEXT DEFAULT '', embedding_json TEXT DEFAULT '[]', created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, last_accessed_at TEXT DEFAULT '', expires_at TEXT DEFAULT '',
    tags_json TEXT DEFAULT '[]');
  CREATE TABLE memory_events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, event_type TEXT NOT NULL,
    memory_id TEXT NOT NULL, scope_id TEXT DEFAULT '', detail TEXT DEFAULT '');
  CREATE TABLE memory_links (
    source_id TEXT NOT NULL, target_id TEXT NOT NULL, link_type TEXT NOT NULL DEFAULT 'related',
    created_at TEXT NOT NULL, PRIMARY KEY (source_id, target_id, link_type));
  CREATE TABLE memory_watches (
    watch_id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, watcher TEXT NOT NULL,
    created_at TEXT NOT NULL, UNIQUE (memory_id, watcher));
  CREATE TABLE memory_annotations (
    annotation_id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, author TEXT NOT NULL DEFAULT '',
    content TEXT NOT NULL, created_at TEXT NOT NULL);
  CREATE TABLE scope_access (
    scope_id TEXT NOT NULL, principal TEXT NOT NULL, permission TEXT NOT NULL DEFAULT 'read',
    created_at TEXT NOT NULL, PRIMARY KEY (scope_id, principal, permission));
  CREATE VIRTUAL TABLE memories_fts USING fts5 (
    memory_id, scope_id, content, summary, entities_text, topics_text, tokenize = 'unicode61');
`;

/** A row of `memories`; what is left out has the original's default. */
export interface OriginalMemory {
  memory_id: string;
  content: string;
  scope_id?: string;
  memory_type?: string;
  summary?: string;
  source_session_id?: string;
  source_turn_start?: number;
  source_turn_end?: number;
  entities_json?: string;
  topics_json?: string;
  importance?: number;
  confidence?: number;
  access_count?: number;
  reinforcement_score?: number;
  status?: 'active' | 'superseded' | 'archived';
  supersedes_json?: string;
  superseded_by?: string;
  embedding_json?: string;
  created_at?: string;
  updated_at?: string;
  last_accessed_at?: string;
  expires_at?: string;
  tags_json?: string;
}

/** Writes a memory.db as the original does. `more` fills its side tables. */
export function writeOriginal(
  path: string,
  memories: readonly OriginalMemory[],
  more: (database: Database) => void = () => {},
): void {
  const { database } = openDatabase(path, { migrations: [SCHEMA] });
  for (const memory of memories) {
    const row = {
      scope_id: 'default',
      memory_type: 'semantic',
      created_at: '2025-03-01T10:00:00+00:00',
      updated_at: '2025-03-02T10:00:00+00:00',
      ...memory,
    };
    const columns = Object.keys(row);
    database.run(
      `INSERT INTO memories (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...Object.values(row),
    );
  }
  more(database);
  database.close();
}
