import { isMap, isScalar, isSeq, parseDocument, stringify, type YAMLMap } from 'yaml';

/** The parts of a SKILL.md; concatenated they are the file again, byte for byte. */
export interface SkillParts {
  /** Byte order mark, or empty. */
  bom: string;
  /** `---` and its line end. */
  open: string;
  /** YAML between the fences, with its last line end. */
  frontMatter: string;
  /** The closing `---` and its line end. */
  close: string;
  body: string;
}

/** What MetaClaw reads of a skill, after agentskills.io and OpenClaw; everything else in the file is left alone. */
export interface SkillFile {
  name: string;
  description: string;
  /** Top level as the original wrote it, else `metadata.category`, else `general`. */
  category: string;
  /** Phrases of a user that call for the skill; `metadata.triggers`, separated by `;`. */
  triggers: readonly string[];
  /** False when the file says `enabled: false` or forbids a model to call the skill by itself. */
  enabled: boolean;
  /** `metadata.source`: `learned` for skills that the learner wrote. */
  source: string | null;
  /** `metadata.proposal`: the accepted proposal that this file came from. */
  proposal: string | null;
  /** Markdown without surrounding blank lines. */
  body: string;
  parts: SkillParts;
}

/** `line` is where the problem stands, from 1. */
export type ParsedSkill =
  | { skill: SkillFile; problem: null }
  | { skill: null; problem: string; line: number };

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;

/** True for names that are safe as a folder and valid for other agents (agentskills.io). */
export function isSkillName(name: string): boolean {
  return name.length <= MAX_NAME && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** Splits without interpreting; null when the text has no front matter. */
export function splitSkill(text: string): SkillParts | null {
  const match = /^(\ufeff?)(---[ \t]*(?:\r\n|\n|\r))([\s\S]*?)(?<=^|[\r\n])(---[ \t]*(?:\r\n|\n|\r|$))/.exec(
    text,
  );
  if (!match) return null;
  const [whole, bom = '', open = '', frontMatter = '', close = ''] = match;
  return { bom, open, frontMatter, close, body: text.slice(whole.length) };
}

/** The line of the file, from 1, in which a key of the front matter stands, or the `body` begins; the first when it is not there. */
export function lineOf(parts: SkillParts, key: string): number {
  const lines = parts.frontMatter.split(/\r\n|\n|\r/);
  if (key === 'body') return lines.length + 2;
  const at = lines.findIndex((line) => line.trimStart().startsWith(`${key}:`));
  return at === -1 ? 1 : at + 2;
}

/** The inverse of `splitSkill`. */
export function joinSkill(parts: SkillParts): string {
  return parts.bom + parts.open + parts.frontMatter + parts.close + parts.body;
}

/** Reads a SKILL.md; a file that cannot be used says why instead of vanishing. */
export function parseSkill(text: string): ParsedSkill {
  const parts = splitSkill(text);
  if (!parts)
    return bad('It has no front matter: the first line must be --- and a second --- must end it.', 1);
  const fields = readFields(parts.frontMatter);
  if (fields instanceof BadYaml) return bad(fields.message, fields.line);
  const at = (key: string) => lineOf(parts, key);

  const name = textOf(fields.name);
  if (name === '') return bad('The front matter has no name.', at('name'));
  if (!isSkillName(name))
    return bad(
      `The name ${JSON.stringify(name)} is not valid: lower-case letters, digits and single hyphens, at most ${MAX_NAME} characters.`,
      at('name'),
    );
  const description = textOf(fields.description);
  if (description === '') return bad('The front matter has no description.', at('description'));
  const body = parts.body.trim();
  if (body === '') return bad('There is no text after the front matter.', at('body'));

  const metadata = isRecord(fields.metadata) ? fields.metadata : {};
  return {
    problem: null,
    skill: {
      name,
      description: description.replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION),
      category: textOf(fields.category) || textOf(metadata.category) || 'general',
      triggers: phrasesOf(metadata.triggers ?? fields.triggers),
      enabled:
        !isFalse(fields.enabled) &&
        !isFalse(metadata.enabled) &&
        textOf(fields['disable-model-invocation']) !== 'true',
      source: textOf(metadata.source) || null,
      proposal: textOf(metadata.proposal) || null,
      body,
      parts,
    },
  };
}

export interface SkillDraft {
  name: string;
  description: string;
  category: string;
  triggers: readonly string[];
  /** Further `metadata` entries; values are strings, which every reader of skills accepts. */
  metadata: Readonly<Record<string, string>>;
  body: string;
}

/** Writes a new SKILL.md; every value is escaped, so no text can add a key. */
export function composeSkill(draft: SkillDraft): string {
  const metadata: Record<string, string> = { category: draft.category };
  if (draft.triggers.length > 0) metadata.triggers = draft.triggers.map(clean).join('; ');
  for (const [key, value] of Object.entries(draft.metadata)) metadata[key] = value;
  const yaml = stringify(
    { name: draft.name, description: clean(draft.description), metadata },
    { lineWidth: 0, defaultStringType: 'PLAIN', defaultKeyType: 'PLAIN' },
  );
  return `---\n${yaml}---\n\n${draft.body.trim()}\n`;
}

/**
 * Sets one top-level key, or one of `metadata` (`['metadata', key]`), and leaves every other byte as it was:
 * comments, order, quotes, line ends and keys of other tools.
 */
export function withField(
  parts: SkillParts,
  path: readonly [string] | readonly ['metadata', string],
  value: string | boolean,
): SkillParts {
  const eol = parts.open.slice(3).trimStart() === '\r\n' || parts.open.endsWith('\r\n') ? '\r\n' : '\n';
  const source = parts.frontMatter;
  const written = stringify(value, { lineWidth: 0 }).trimEnd();
  const key = path[path.length - 1] as string;
  const document = parseDocument(withKnownLineEnds(source));
  const existing = document.getIn(path, true);
  if (isScalar(existing) && existing.range) {
    const [from, to] = existing.range;
    const gap = /:$/.test(source.slice(0, from)) ? ' ' : '';
    // A block scalar ends with the line end before the next key.
    const end = /[\r\n]$/.test(source.slice(from, to)) ? eol : '';
    return { ...parts, frontMatter: source.slice(0, from) + gap + written + end + source.slice(to) };
  }
  const nested = path.length === 2 ? document.get('metadata', true) : null;
  if (isMap(nested)) {
    const start = startOf(nested);
    if (nested.flow === true || start === null) {
      document.setIn(path, value);
      return { ...parts, frontMatter: document.toString({ lineWidth: 0 }) };
    }
    const indent = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
    const line = `${key}: ${written}${eol}${indent}`;
    return { ...parts, frontMatter: source.slice(0, start) + line + source.slice(start) };
  }
  const line = path.length === 2 ? `metadata:${eol}  ${key}: ${written}${eol}` : `${key}: ${written}${eol}`;
  const end = source === '' || /[\r\n]$/.test(source) ? '' : eol;
  return { ...parts, frontMatter: source + end + line };
}

/** Puts Markdown in the place of the body; blank lines around it and the file's line ends stay. */
export function withBody(parts: SkillParts, markdown: string): SkillParts {
  const eol = parts.open.endsWith('\r\n') ? '\r\n' : '\n';
  const [, before = '', after = ''] = /^(\s*)[\s\S]*?(\s*)$/.exec(parts.body) ?? [];
  const text = markdown.trim().replace(/\r?\n/g, eol);
  return { ...parts, body: before + text + (after === '' ? eol : after) };
}

function startOf(map: YAMLMap): number | null {
  const first = map.items[0]?.key;
  return isScalar(first) && first.range ? first.range[0] : null;
}

/** Why a front matter has no fields, and in which line of the file. */
class BadYaml {
  readonly message: string;
  readonly line: number;

  constructor(message: string, line: number) {
    this.message = message;
    this.line = line;
  }
}

/** Top-level fields, or the reason why there are none. */
function readFields(text: string): Record<string, unknown> | BadYaml {
  const source = withKnownLineEnds(text);
  const document = parseDocument(source, { uniqueKeys: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (!error && isMap(document.contents)) return fieldsOf(document.contents);
  // The original wrote descriptions unquoted, colons and all: read `key: rest of line` as it did.
  const lines = plainLines(source);
  if (isSkillName(textOf(lines.name)) && textOf(lines.description) !== '') return lines;
  if (!error) return new BadYaml('The front matter is not a list of keys and values.', 2);
  const at = error.linePos?.[0];
  const where = at ? ` (line ${at.line + 1}, column ${at.col})` : '';
  const reason = error.message.split('\n')[0]?.replace(/ at line.*/, '');
  return new BadYaml(`The front matter is not valid YAML${where}: ${reason}`, (at?.line ?? 1) + 1);
}

function fieldsOf(map: YAMLMap): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (isMap(value)) fields[name] = fieldsOf(value);
    else if (isSeq(value)) fields[name] = value.items.map((item) => (isScalar(item) ? item.value : null));
    else if (isScalar(value)) fields[name] = value.value;
  }
  return fields;
}

/** YAML knows no lone carriage return; the replacement keeps every position. */
function withKnownLineEnds(text: string): string {
  return text.replace(/\r(?!\n)/g, '\n');
}

function plainLines(source: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const line of source.split(/\r\n|\n|\r/)) {
    if (line.trim() === '' || line.startsWith('#') || /^\s/.test(line)) continue;
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return fields;
}

function phrasesOf(value: unknown): string[] {
  const phrases = Array.isArray(value) ? value.map(textOf) : textOf(value).split(/[;；\n]/);
  return phrases.map((phrase) => phrase.trim()).filter((phrase) => phrase !== '');
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : '';
}

function isFalse(value: unknown): boolean {
  return ['false', 'no', 'off'].includes(textOf(value).toLowerCase());
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function clean(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function bad(problem: string, line: number): ParsedSkill {
  return { skill: null, problem, line };
}
