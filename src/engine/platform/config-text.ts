import {
  Document,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit as visitNodes,
  YAMLMap,
} from 'yaml';
import type { ConfigProblem } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';

/** A YAML text that could be read: its document, its plain values, and where things stand. */
export interface ConfigText {
  document: Document.Parsed;
  values: Record<string, unknown>;
  /** Keys that are given twice; the last one holds. */
  warnings: ConfigProblem[];
  /** 1-based position of a key, or null when the text does not have it. */
  locate(path: readonly string[]): { line: number; column: number } | null;
}

/** PyYAML, which the original reads with, follows YAML 1.1: what it would misread is quoted. */
const OPTIONS = {
  merge: true,
  uniqueKeys: false,
  prettyErrors: true,
  logLevel: 'error',
  compat: 'yaml-1.1',
} as const;
/** No re-folding of long lines. */
const OUT = { lineWidth: 0 } as const;

/** Bytes → text. Config files are UTF-8, whatever the machine's code page is; anything else is named. */
export function decodeConfig(bytes: Uint8Array): { text: string; bom: boolean } | ConfigProblem {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return problem('The file is encoded as UTF-16, not UTF-8.', 1, 1, 'Save it as UTF-8.');
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  const nul = body.indexOf(0);
  if (nul >= 0)
    return problem(
      'The file holds zero bytes: it is damaged, or not a text file.',
      lineOf(body, nul),
      1,
      'Restore it from a copy.',
    );
  const text = tryDecode(body, 'utf-8');
  if (text !== null) return { text, bom };
  const line = firstBadLine(body);
  const guess = tryDecode(body, 'gb18030') === null ? '' : '; it looks like GBK (code page 936)';
  return problem(`The file is not UTF-8${guess}.`, line, 1, 'Save it as UTF-8; nothing in it was changed.');
}

/**
 * Text → document and values. `isText` tells which paths hold text: there a plain `123`, `007` or `1e5` keeps its
 * spelling instead of becoming a number.
 */
export function parseConfigText(
  text: string,
  isText: (path: readonly string[]) => boolean,
): ConfigText | ConfigProblem {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
  const error = document.errors[0];
  if (error) {
    const quote = openQuote(document);
    if (quote !== null) {
      const { line, col } = lines.linePos(quote);
      return problem('Not valid YAML: the quote that opens here is never closed.', line, col, 'Close it.');
    }
    // Only the first line: the rest quotes the file, which may hold a key.
    const message = (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
    const [at] = error.linePos ?? [];
    return problem(
      `Not valid YAML: ${message}.`.replace('..', '.'),
      at?.line ?? 1,
      at?.col ?? 1,
      'Mend that line.',
    );
  }
  const root = document.contents as Node | null;
  if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null))
    return problem(
      'The file holds no settings: `key: value` lines are expected.',
      1,
      1,
      'Compare it with `metaclaw config show`.',
    );
  let values: unknown;
  try {
    values = document.toJS() ?? {};
  } catch (error) {
    return problem(`Not valid YAML: ${messageOf(error)}.`, 1, 1, 'Mend the named alias.');
  }
  const warnings: ConfigProblem[] = [];
  visit(document, root, values, [], isText, (path, pair) => {
    const at = lines.linePos((pair.key as Node).range?.[0] ?? 0);
    warnings.push({
      severity: 'warning',
      path: path.join('.'),
      message: `${path.join('.')} is given twice; the last one holds.`,
      line: at.line,
      column: at.col,
      hint: 'Remove one of them.',
    });
  });
  return {
    document,
    values: values as Record<string, unknown>,
    warnings,
    locate: (path) => {
      const range = (pairAt(document, path)?.key as Node | undefined)?.range;
      if (!range) return null;
      const at = lines.linePos(range[0]);
      return { line: at.line, column: at.col };
    },
  };
}

/** Where a quoted text begins that nothing ends, when this is the first fault. The reader names the end of the file. */
function openQuote(document: Document.Parsed): number | null {
  const error = document.errors[0];
  if (error?.code !== 'MISSING_CHAR') return null;
  let at: number | null = null;
  visitNodes(document, {
    Scalar(_key, { type, range }) {
      const isQuoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
      if (isQuoted && range && range[1] === error.pos[0]) at = range[0];
    },
  });
  return at;
}

/**
 * The text with one key set, or removed for `undefined`. Touches as few bytes as it can: a value is replaced in
 * place, a removed key takes only its own lines. Comments, order, quoting and unknown keys stay.
 */
export function editConfigText(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text, OPTIONS);
  if (document.errors.length > 0) throw new AppError('CONFIG_INVALID', 'The config file is not valid YAML.');
  const edited =
    value === undefined
      ? withoutLines(text, document, path)
      : (withValueInPlace(text, document, path, value) ?? withNewLines(text, document, path, value));
  if (edited !== null) return edited;
  if (value === undefined) remove(document, path);
  else put(document, path, value);
  const out = document.toString({
    ...OUT,
    indent: indentOf(text),
    indentSeq: !/^(\s*)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
  });
  return text.includes('\r\n') ? out.replace(/\r?\n/g, '\r\n') : out;
}

function withValueInPlace(
  text: string,
  document: Document,
  path: readonly string[],
  value: unknown,
): string | null {
  if (typeof value === 'object' && value !== null) return null;
  const node = pairAt(document, path)?.value;
  if (!isScalar(node) || !node.range || node.anchor || node.tag) return null;
  const [start, end] = node.range;
  if (start === end || node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL) return null;
  const scalar = new Scalar(value);
  if (typeof value === 'string' && isInFlow(document, path)) scalar.type = Scalar.QUOTE_DOUBLE;
  else if (typeof value === 'string' && node.type !== undefined) scalar.type = node.type as Scalar.Type;
  const spelled = withoutLastBreak(new Document(scalar, OPTIONS).toString(OUT));
  return spelled.includes('\n') ? null : text.slice(0, start) + spelled + text.slice(end);
}

/**
 * Adds a key behind the last one of its section. Writing the whole document anew would also quote an unquoted `no`
 * elsewhere, which the original then reads as text, and text counts as true there.
 */
function withNewLines(
  text: string,
  document: Document,
  path: readonly string[],
  value: unknown,
): string | null {
  if (pairAt(document, path) !== null || isInFlow(document, path)) return null;
  let depth = path.length - 1;
  while (depth > 0 && mapAt(document, path.slice(0, depth)) === null) depth -= 1;
  // A section that is there without keys of its own has no place to add to.
  if (depth < path.length - 1 && pairAt(document, path.slice(0, depth + 1)) !== null) return null;
  const last = mapAt(document, path.slice(0, depth))?.items.at(-1);
  const start = (last?.key as Node | undefined)?.range?.[0];
  if (last === undefined || start === undefined) return null;
  const valueRange = (last.value as Node | null)?.range;
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (indent.trim() !== '') return null;
  const added = path.slice(depth).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const lines = withoutLastBreak(
    new Document(added, OPTIONS).toString({ ...OUT, indent: indentOf(text) }),
  ).split('\n');
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const block = lines.map((line) => indent + line + newline).join('');
  const end = Math.max(valueRange?.[1] ?? 0, ((last.key as Node).range as [number, number, number])[1]);
  // A block value ends behind its line break already.
  const at = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  const edited =
    at < 0 ? `${text}${newline}${block}` : `${text.slice(0, at + 1)}${block}${text.slice(at + 1)}`;
  const again = parseDocument(edited, OPTIONS);
  const before = parseDocument(text, OPTIONS);
  put(before, path, value);
  const isSame = JSON.stringify(again.toJS()) === JSON.stringify(before.toJS());
  return again.errors.length === 0 && isSame ? edited : null;
}

function withoutLines(text: string, document: Document, path: readonly string[]): string | null {
  const pair = pairAt(document, path);
  if (pair === null) return text;
  const key = pair.key as Node;
  if (!key.range || isInFlow(document, path)) return null;
  const value = pair.value as Node | null;
  const start = text.lastIndexOf('\n', key.range[0] - 1) + 1;
  if (text.slice(start, key.range[0]).trim() !== '') return null;
  const last = Math.max(key.range[1], value?.range?.[1] ?? 0);
  // A block value ends behind its line break already.
  const newline = text.indexOf('\n', text[last - 1] === '\n' ? last - 1 : last);
  const edited = text.slice(0, start) + (newline < 0 ? '' : text.slice(newline + 1));
  const again = parseDocument(edited, OPTIONS);
  return again.errors.length === 0 && pairAt(again, path) === null ? edited : null;
}

function put(document: Document, path: readonly string[], value: unknown): void {
  if (!isMap(document.contents)) {
    const empty = new YAMLMap();
    const before = document.contents?.commentBefore;
    if (before) empty.commentBefore = before;
    document.contents = empty;
  }
  let map = document.contents as YAMLMap;
  for (const name of path.slice(0, -1)) {
    const pair = lastPair(map, name);
    const inner = pair?.value;
    if (isMap(inner)) {
      map = inner;
    } else if (pair === null || inner === null || (isScalar(inner) && inner.value === null)) {
      const made = new YAMLMap();
      if (pair === null) map.add(document.createPair(name, made));
      else pair.value = made;
      map = made;
    } else {
      throw new AppError(
        'CONFIG_INVALID',
        `${name} in the config file is not a section that can be edited.`,
        {
          hint: 'Edit the file by hand.',
          field: path.join('.'),
        },
      );
    }
  }
  const name = path[path.length - 1] as string;
  const pair = lastPair(map, name);
  if (pair === null) {
    map.flow = map.flow === true && map.items.length > 0;
    map.add(document.createPair(name, value));
  } else {
    const node = document.createNode(value) as Node;
    const old = pair.value as Node | null;
    if (old?.comment) node.comment = old.comment;
    pair.value = node;
  }
}

function remove(document: Document, path: readonly string[]): void {
  const map = mapAt(document, path.slice(0, -1));
  if (map !== null) map.items = map.items.filter((pair) => nameOf(pair) !== path[path.length - 1]);
}

function mapAt(document: Document, path: readonly string[]): YAMLMap | null {
  let node: unknown = document.contents;
  for (const name of path) node = isMap(node) ? lastPair(node, name)?.value : null;
  return isMap(node) ? node : null;
}

function pairAt(document: Document, path: readonly string[]): Pair | null {
  const map = mapAt(document, path.slice(0, -1));
  return map === null ? null : lastPair(map, path[path.length - 1] as string);
}

function lastPair(map: YAMLMap, name: string): Pair | null {
  return map.items.filter((pair) => nameOf(pair) === name).at(-1) ?? null;
}

function nameOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

function isInFlow(document: Document, path: readonly string[]): boolean {
  return path.some((_, n) => mapAt(document, path.slice(0, n))?.flow === true);
}

/** Walks mappings: reports repeated keys, and puts back the spelling of text that YAML read as something else. */
function visit(
  document: Document,
  node: unknown,
  values: unknown,
  path: readonly string[],
  isText: (path: readonly string[]) => boolean,
  onRepeat: (path: readonly string[], pair: Pair) => void,
): void {
  if (!isMap(node) || typeof values !== 'object' || values === null) return;
  const target = values as Record<string, unknown>;
  const seen = new Set<string>();
  for (const pair of node.items) {
    const name = nameOf(pair);
    const inner = [...path, name];
    if (seen.has(name) && name !== '<<') onRepeat(inner, pair);
    seen.add(name);
    const value = isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
    if (isScalar(value)) {
      if (isText(inner) && isMisread(value)) target[name] = value.source;
    } else if (isText(inner) && Array.isArray(target[name])) {
      const items = (value as unknown as { items?: unknown[] } | undefined)?.items ?? [];
      target[name] = target[name].map((item, n) => {
        const scalar = items[n];
        return isScalar(scalar) && isMisread(scalar) ? scalar.source : item;
      });
    } else {
      visit(document, value, target[name], inner, isText, onRepeat);
    }
  }
}

function isMisread(scalar: Scalar): boolean {
  return (
    scalar.type === Scalar.PLAIN && (typeof scalar.value === 'number' || typeof scalar.value === 'boolean')
  );
}

function indentOf(text: string): number {
  return Math.min(8, /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2);
}

/** Not `trimEnd`: a value may end in a space that is not one of YAML's. */
function withoutLastBreak(text: string): string {
  return text.replace(/\n+$/, '');
}

function tryDecode(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function firstBadLine(bytes: Uint8Array): number {
  let start = 0;
  for (let line = 1; ; line += 1) {
    const end = bytes.indexOf(10, start);
    if (end < 0 || tryDecode(bytes.subarray(start, end), 'utf-8') === null) return line;
    start = end + 1;
  }
}

function lineOf(bytes: Uint8Array, index: number): number {
  return bytes.subarray(0, index).filter((byte) => byte === 10).length + 1;
}

function problem(message: string, line: number, column: number, hint: string): ConfigProblem {
  return { severity: 'error', path: null, message, line, column, hint };
}
