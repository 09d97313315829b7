import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as textOf } from 'mdast-util-to-string';
import { AppError } from '../../../shared/errors.ts';
import { type MemoryScope, parseScope } from '../../../shared/memory.ts';
import {
  type FileFacts,
  type Incoming,
  isUuid,
  kindOf,
  type ListedUnit,
  shareOf,
  tagsOf,
  timeOf,
} from './incoming.ts';

type Node = ReturnType<typeof fromMarkdown>['children'][number];
type ListItem = Extract<Node, { type: 'list' }>['children'][number];

const FRONT_MATTER = /^\uFEFF?---\r?\n[\s\S]*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
const TASK = /^\[( |x|X)\]\s+/;

/**
 * Reads a Markdown list: each item is a memory, headings above it are tags, and so is whether a task is done. An item
 * that ends with a colon stands in front of those below it. Without any list, each paragraph is a memory.
 */
export function readMarkdown({ text, writtenAt }: FileFacts): Incoming[] {
  const body = text.replace(FRONT_MATTER, '');
  const shifted = text.slice(0, text.length - body.length).split('\n').length - 1;
  const root = fromMarkdown(body);
  const hasList = root.children.some(({ type }) => type === 'list');
  const found: Incoming[] = [];
  let headings: { depth: number; text: string }[] = [];
  const lineOf = (node: Node | ListItem) => `line ${(node.position?.start.line ?? 0) + shifted}`;
  const add = (node: Node | ListItem, content: string, tags: readonly string[]) => {
    if (content !== '')
      found.push({ line: lineOf(node), type: 'listed', unit: plainUnit(content, writtenAt, tags) });
  };
  const addItem = (item: ListItem, before: string) => {
    const paragraphs = item.children.filter(({ type }) => type !== 'list');
    const words = flat(paragraphs.map((part) => textOf(part)).join(' '));
    const task = TASK.exec(words);
    const content = words.replace(TASK, '');
    const state = task ? [task[1] === ' ' ? 'todo' : 'done'] : [];
    const below = item.children.filter((part) => part.type === 'list');
    const leads = below.length > 0 && /[:：]$/.test(content);
    if (!leads) add(item, `${before}${content}`, [...headings.map((heading) => heading.text), ...state]);
    for (const list of below)
      if (list.type === 'list')
        for (const inner of list.children) addItem(inner, leads ? `${before}${content} ` : before);
  };
  for (const node of root.children) {
    if (node.type === 'heading') {
      headings = [
        ...headings.filter(({ depth }) => depth < node.depth),
        { depth: node.depth, text: flat(textOf(node)) },
      ];
    } else if (node.type === 'list') for (const item of node.children) addItem(item, '');
    else if (node.type === 'paragraph' && !hasList)
      add(
        node,
        flat(textOf(node)),
        headings.map((heading) => heading.text),
      );
    else if (node.type !== 'thematicBreak' && node.type !== 'html' && node.type !== 'definition')
      found.push({ line: lineOf(node), type: 'skipped', reason: 'It is no item of a list.' });
  }
  return found;
}

/** Reads JSON objects or strings of anybody's, one a line or in one list. */
export function readLoose(
  values: readonly { line: string; value: unknown }[],
  writtenAt: string,
): Incoming[] {
  return values.map(({ line, value }): Incoming => {
    if (typeof value === 'string')
      return flat(value) === ''
        ? { line, type: 'skipped', reason: 'It has no words.' }
        : { line, type: 'listed', unit: plainUnit(value.trim(), writtenAt, []) };
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { line, type: 'skipped', reason: 'It is neither an object nor a text.' };
    const item = value as Readonly<Record<string, unknown>>;
    const content = first(item, [
      'content',
      'memory',
      'text',
      'fact',
      'note',
      'value',
      'statement',
      'body',
      'description',
    ]);
    if (typeof content !== 'string' || content.trim() === '')
      return { line, type: 'skipped', reason: 'It has no `content`, `text` or `memory`.' };
    const observedAt = timeOf(
      first(item, [
        'observed_at',
        'observedAt',
        'created_at',
        'createdAt',
        'timestamp',
        'date',
        'time',
        'updated_at',
      ]),
    );
    const importance = first(item, ['importance']);
    const unit: ListedUnit = {
      ...plainUnit(
        content.trim(),
        observedAt ?? writtenAt,
        tagsOf(item.tags, item.topics, item.categories, item.category),
      ),
      uuid: [item.id, item.uuid, item.memory_id].find(isUuid)?.toLowerCase() ?? null,
      scope: looseScope(item),
      kind: kindOf(first(item, ['kind', 'memory_type', 'type', 'category'])) ?? 'semantic',
      pinned: item.pinned === true || item.pinned === 1,
      importance: importance === undefined ? undefined : shareOf(importance, 0.5),
      expiresAt: timeOf(first(item, ['expires_at', 'expiresAt', 'expiration_date'])),
    };
    return { line, type: 'listed', unit };
  });
}

/** JSON values of a text with one on each line. Lines that are none are skipped; all of them: it is no such file. */
export function parseLines({ path, text }: FileFacts): {
  values: { line: string; value: unknown }[];
  bad: Incoming[];
} {
  const values: { line: string; value: unknown }[] = [];
  const bad: Incoming[] = [];
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const trimmed = raw.trim();
    if (trimmed === '') continue;
    const line = `line ${at + 1}`;
    try {
      values.push({ line, value: JSON.parse(trimmed) });
    } catch {
      bad.push({ line, type: 'skipped', reason: 'It is no JSON.' });
    }
  }
  if (values.length === 0)
    throw new AppError('BAD_INPUT', `${path} has no line of JSON.`, {
      hint: 'JSONL has one JSON object on each line.',
      field: 'path',
    });
  return { values, bad };
}

function plainUnit(content: string, observedAt: string, tags: readonly string[]): ListedUnit {
  return {
    uuid: null,
    scope: null,
    content,
    kind: 'semantic',
    tags: tagsOf(tags),
    pinned: false,
    importance: undefined,
    observedAt,
    expiresAt: null,
  };
}

function looseScope(item: Readonly<Record<string, unknown>>): MemoryScope | null {
  const { scope } = item;
  if (typeof scope === 'string' && scope.trim() !== '') return parseScope(scope);
  if (typeof item.scope_id === 'string' && item.scope_id.trim() !== '') return parseScope(item.scope_id);
  const part = (...names: string[]) => {
    const value = first(item, names);
    return typeof value === 'string' ? value.trim() : '';
  };
  const [user, workspace] = [part('user_id', 'user'), part('workspace_id', 'workspace', 'project')];
  return user === '' && workspace === '' ? null : { user, workspace, agent: '' };
}

function first(item: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  const name = names.find((one) => item[one] !== undefined && item[one] !== null && item[one] !== '');
  return name === undefined ? undefined : item[name];
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
