// The package's other entry is UMD, which bundlers cannot follow.
import {
  applyEdits,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
} from 'jsonc-parser/lib/esm/main.js';
import type { SettingsFormat } from './format.ts';

/** JSON, with comments and trailing commas where their program allows them. */
export const jsonFormat: SettingsFormat = {
  read(text) {
    if (text.trim() === '') return {};
    const errors: ParseError[] = [];
    const values: unknown = parse(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error) {
      const line = text.slice(0, error.offset).split('\n').length;
      throw new Error(`${printParseErrorCode(error.error)} in line ${line}.`);
    }
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new Error('It does not hold an object.');
    return values;
  },

  edit(text, { path, value }) {
    return changed(text, [...path], value);
  },

  append(text, path, item) {
    return changed(text, [...path, -1], item, true);
  },

  drop(text, path, index) {
    return changed(text, [...path, index], undefined);
  },
};

function changed(text: string, path: (string | number)[], value: unknown, isArrayInsertion = false): string {
  const isNew = text.trim() === '';
  const start = isNew ? '{}' : text;
  const edits = modify(start, path, value, {
    isArrayInsertion,
    formattingOptions: { ...habitsOf(text), eol: text.includes('\r\n') ? '\r\n' : '\n' },
  });
  const edited = applyEdits(start, edits);
  return isNew ? `${edited}\n` : edited;
}

/** How the file is indented, from its first indented line. */
function habitsOf(text: string): { insertSpaces: boolean; tabSize: number } {
  const indent = /\n([\t ]+)\S/.exec(text)?.[1] ?? '  ';
  return indent.startsWith('\t')
    ? { insertSpaces: false, tabSize: 1 }
    : { insertSpaces: true, tabSize: indent.length };
}
