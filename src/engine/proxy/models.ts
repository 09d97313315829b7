/** A model's entry in the OpenAI list. */
export function openaiModel(id: string) {
  return { id, object: 'model', created: 1_767_225_600, owned_by: 'metaclaw' };
}

/** A model's entry in the Anthropic list. */
export function anthropicModel(id: string) {
  return { type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' };
}

/** Claude Code lists only names with `claude` in them, so each other name has such an alias (H15). */
export function withClaudeAliases(names: readonly string[]): string[] {
  const aliases = names.filter((name) => !name.includes('claude')).map((name) => `claude-${name}`);
  return [...names, ...aliases];
}

/** The model list in the shape of the client's dialect; `limit` and the cursors are Anthropic's. */
export function modelList(
  names: readonly string[],
  anthropic: boolean,
  paging: { limit?: string; afterId?: string; beforeId?: string } = {},
): Record<string, unknown> {
  if (!anthropic) return { object: 'list', data: names.map(openaiModel) };
  const all = withClaudeAliases(names);
  const after = paging.afterId === undefined ? -1 : all.indexOf(paging.afterId);
  const before = paging.beforeId === undefined ? -1 : all.indexOf(paging.beforeId);
  const open = all.slice(after + 1, before < 0 ? undefined : before);
  const wanted = Number(paging.limit ?? 20);
  const limit = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, 1000) : 20;
  const page = before < 0 ? open.slice(0, limit) : open.slice(-limit);
  return {
    data: page.map(anthropicModel),
    has_more: page.length < open.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}
