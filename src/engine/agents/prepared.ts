import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch } from 'diff';
import { AppError } from '../../shared/errors.ts';
import type { Adapter, OwnCommand, Place, Run, Target } from './adapter.ts';
import type { ConnectedFile } from './connections.ts';
import type { Change, Json, ValueChange } from './edit/format.ts';
import { changesBack, editSettings, mergePatch, readSettings } from './edit/index.ts';
import { type FileText, readFileText, removeFile, writeFileText } from './file-text.ts';

/** One file and what it would become. */
export interface FileEdit {
  path: string;
  format: ConnectedFile['format'];
  now: FileText | null;
  /** Its text without anything of ours. */
  base: string;
  changes: readonly Change[];
  text: string;
  /** False: all of it holds already. */
  changed: boolean;
}

/**
 * What a connection makes of the agent's files; writes nothing. An agent's own command is asked first whether it
 * would take it. CONFIG_INVALID for settings that cannot be read, CONFLICT for those that are left alone.
 */
export async function prepare(
  adapter: Adapter,
  {
    target,
    place,
    connected,
    run,
  }: {
    target: Target;
    place: Place;
    connected: readonly ConnectedFile[] | null;
    run: Run;
  },
): Promise<FileEdit[]> {
  const files = adapter.files(place).map(({ path, format }) => {
    const now = readFileText(path);
    const before = connected?.find((file) => file.path === path);
    const base =
      before === undefined || now === null ? (now?.text ?? '') : (textBack(before, now.text).text ?? '');
    return { path, format, now, base };
  });
  const values = files.map(({ path, format, base }) => readSettings(path, format, base));
  const reason = adapter.unsupported(values);
  if (reason !== null) throw leftAlone(adapter, reason);
  let words = '';
  for (let attempt = 0; ; attempt += 1) {
    const changes = adapter.changes(values, target, attempt);
    if (changes === null) throw leftAlone(adapter, words);
    const edits = files.map((file, index) => {
      const own = changes[index] ?? [];
      const text = editSettings(file.path, file.format, file.base, own);
      return { ...file, changes: own, text, changed: differs(file, text) };
    });
    if (!adapter.command || edits.every(({ changed }) => !changed)) return edits;
    const refused = await adapter.command.refusal(patchOf(edits), run);
    if (refused === null) return edits;
    words = refused;
  }
}

/** Writes them, all or none. Rejects with FORBIDDEN for a read-only file, or with the words of the agent's command. */
export async function write(adapter: Adapter, edits: readonly FileEdit[], run: Run): Promise<void> {
  if (adapter.command) {
    if (edits.some(({ changed }) => changed)) await adapter.command.apply(patchOf(edits), run);
    return;
  }
  const written: FileEdit[] = [];
  try {
    for (const edit of edits) {
      if (!edit.changed) continue;
      writeFileText(edit.path, edit.text, edit.now?.mode ?? null);
      written.push(edit);
    }
  } catch (error) {
    for (const { path, now } of written) {
      if (now === null) removeFile(path);
      else writeFileText(path, now.text, now.mode);
    }
    throw error;
  }
}

/** Takes ours out of one file. `restored`: it was written; `kept`: places that somebody changed since. */
export async function takeBack(
  adapter: Adapter,
  file: ConnectedFile,
  run: Run,
): Promise<{ restored: boolean; kept: string[] }> {
  const now = readFileText(file.path);
  if (now === null) return { restored: false, kept: [] };
  const back = textBack(file, now.text);
  const kept = back.kept.map((place) => `${place} in ${file.path}`);
  if (back.text === now.text) return { restored: false, kept };
  if (adapter.command && !back.whole) {
    const changes = back.changes.filter((change): change is ValueChange => 'value' in change);
    if (changes.length === 0) return { restored: false, kept };
    await undoByCommand(adapter.command, { file, now, changes, run });
  } else if (back.text === null) removeFile(file.path);
  else writeFileText(file.path, back.text, now.mode);
  return { restored: true, kept };
}

/**
 * An agent may refuse what it had: OpenClaw takes no model that it cannot reach right now. What was there goes back
 * all the same, into the file that its own command wrote.
 */
async function undoByCommand(
  command: OwnCommand,
  { file, now, changes, run }: { file: ConnectedFile; now: FileText; changes: ValueChange[]; run: Run },
): Promise<void> {
  try {
    await command.apply(mergePatch(changes), run);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    writeFileText(file.path, editSettings(file.path, 'json', now.text, changes), now.mode);
  }
}

/** As a person reads it. */
export function diffOf({ path, format, now, text }: FileEdit): string {
  const before = now?.text ?? '';
  // What the agent writes itself is shown as values; how it lays them out is its own affair.
  const shown = (one: string) =>
    format === 'json5' ? `${JSON.stringify(readSettings(path, format, one), null, 2)}\n` : one;
  return createTwoFilesPatch(path, path, shown(before), shown(text), undefined, undefined, { context: 3 });
}

export function patchOf(edits: readonly FileEdit[]): Json {
  return mergePatch(
    edits.flatMap(({ changes }) => changes.filter((change): change is ValueChange => 'value' in change)),
  );
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A file's text when all of ours is taken out; null: it was made for us and holds nothing else. */
function textBack(
  file: ConnectedFile,
  now: string,
): { text: string | null; kept: string[]; changes: Change[]; whole: boolean } {
  if (digest(now) === file.after && file.restorable)
    return { text: file.existed ? file.base : null, kept: [], changes: [], whole: true };
  const { changes, kept } = changesBack(readSettings(file.path, file.format, now), file.traces);
  if (changes.length === 0) return { text: now, kept, changes, whole: false };
  const text = editSettings(file.path, file.format, now, changes);
  const values = readSettings(file.path, file.format, text) as object;
  const isEmpty = !file.existed && Object.keys(values).length === 0;
  return { text: isEmpty ? null : text, kept, changes, whole: false };
}

function differs(
  { path, format, now }: { path: string; format: ConnectedFile['format']; now: FileText | null },
  text: string,
): boolean {
  if (now === null) return true;
  if (now.text === text) return false;
  return !isDeepStrictEqual(readSettings(path, format, now.text), readSettings(path, format, text));
}

function leftAlone(adapter: Adapter, reason: string): AppError {
  return new AppError('CONFLICT', `The settings of ${adapter.id} are left alone. ${reason}`, {
    hint: 'The guide says how to set it by hand.',
  });
}
