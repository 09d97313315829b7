import type { Translate } from '../../../../shared/i18n/index.ts';
import type { MemoryScope } from '../../../../shared/memory.ts';

/** A scope for people: `harbor-api`, `alice, harbor-api`, or that it holds everywhere. */
export function scopeWords({ user, workspace, agent }: MemoryScope, t: Translate): string {
  const parts = [user, lastPart(workspace), agent].filter((part) => part !== '');
  return parts.length === 0 ? t('memories.everywhere') : parts.join(', ');
}

/** A workspace is often a folder: its own name tells enough. */
function lastPart(path: string): string {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;
}
