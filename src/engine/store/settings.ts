import type { z } from 'zod';
import type { Database } from './database.ts';

/** Reads one value of the settings table; what does not fit the schema counts as absent. */
export function readSetting<T>(database: Database, key: string, schema: z.ZodType<T>, fallback: T): T {
  const row = database.get<{ value: string }>('SELECT value FROM settings WHERE key = ?', key);
  if (!row) return fallback;
  try {
    const parsed = schema.safeParse(JSON.parse(row.value));
    return parsed.success ? parsed.data : fallback;
  } catch {
    return fallback;
  }
}

/** Writes one value as JSON. */
export function writeSetting(database: Database, key: string, value: unknown): void {
  database.run(
    'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    JSON.stringify(value),
  );
}
