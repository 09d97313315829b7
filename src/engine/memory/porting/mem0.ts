import {
  type Incoming,
  isUuid,
  type KeptUnit,
  kindOf,
  shareOf,
  tagsOf,
  timeOf,
  uuidFor,
} from './incoming.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * Reads memories of mem0: what `get_all` and `search` return (`{"results": […]}`, before v1.1 a plain list), pages of
 * its platform and exports (`{"memories": […]}`). Fields: id, memory, hash, metadata, categories, created_at,
 * updated_at, expiration_date, user_id, agent_id, app_id, run_id, actor_id, role, score.
 */
export function readMem0(items: readonly unknown[], writtenAt: string): Incoming[] {
  return items.map((item, at) => fromItem(item, `entry ${at + 1}`, writtenAt));
}

/** The list inside of a file of mem0; null when it is none. */
export function mem0Items(value: unknown): unknown[] | null {
  const list = Array.isArray(value) ? value : isItem(value) ? (value.results ?? value.memories) : null;
  if (!Array.isArray(list)) return null;
  const first = list.find(isItem);
  if (list.length > 0 && first === undefined) return null;
  // A plain list of anything has `memory` in none of its entries.
  return list.length === 0 || Array.isArray(value) === false || (first && typeof first.memory === 'string')
    ? list
    : null;
}

const PLACED = new Set(['id', 'memory', 'data', 'text', 'categories', 'score']);

function fromItem(item: unknown, line: string, writtenAt: string): Incoming {
  if (!isItem(item)) return { line, type: 'skipped', reason: 'It is no object.' };
  const content = [item.memory, item.data, item.text].find(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );
  if (content === undefined) return { line, type: 'skipped', reason: 'It has no `memory`.' };
  const metadata = isItem(item.metadata) ? item.metadata : {};
  const createdAt = timeOf(item.created_at) ?? writtenAt;
  const updatedAt = timeOf(item.updated_at) ?? createdAt;
  const extra: Record<string, unknown> = { from: 'mem0' };
  for (const [field, value] of Object.entries(item))
    if (!PLACED.has(field) && value !== null && value !== undefined) extra[field] = value;
  if (typeof item.id === 'string' && !isUuid(item.id)) extra.id = item.id;
  const expiresAt = timeOf(item.expiration_date);
  const name = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
  const scope = { user: name(item.user_id), workspace: name(item.app_id), agent: '' };
  const unit: KeptUnit = {
    uuid: isUuid(item.id) ? item.id.toLowerCase() : uuidFor(`mem0 ${item.id ?? ''} ${scope.user} ${content}`),
    scope: scope.user === '' && scope.workspace === '' ? null : scope,
    kind:
      kindOf(metadata.memory_type) ??
      kindOf(metadata.type) ??
      kindOf(metadata.category) ??
      kindOf(item.memory_type) ??
      'semantic',
    content,
    status: 'active',
    pinned: false,
    origin: 'import',
    importance: shareOf(metadata.importance, 0.5),
    confidence: 0.7,
    // mem0 rewrites a memory in place: it is as old as its last wording.
    observedAt: updatedAt,
    createdAt,
    updatedAt,
    validFrom: updatedAt,
    validTo: null,
    expiresAt,
    supersededBy: null,
    merged: false,
    mentions: 1,
    tags: tagsOf(item.categories, metadata.categories, metadata.tags, metadata.category),
    extra,
    sources: [],
    history: [],
    usedBy: [],
  };
  return { line, type: 'kept', unit };
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
