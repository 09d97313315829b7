import type { Undo } from '../../../../shared/contract.ts';
import type { MemoryUnit } from '../../../../shared/memory.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';

/** What can be done with memories, one or many; each says what it did and how to take it back. */
export function useMemoryActions() {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const pin = useCommand('memory.pin');
  const forget = useCommand('memory.forget');
  const restore = useCommand('memory.restore');
  const say = (text: string, undo: Undo | null) => toast(text, undo === null ? {} : { undo });
  const idsOf = (units: readonly MemoryUnit[]) => units.map(({ id }) => id);
  return {
    busy: pin.isPending || forget.isPending || restore.isPending,
    pin: (units: readonly MemoryUnit[], pinned: boolean) =>
      pin.mutate(
        { ids: idsOf(units), pinned },
        {
          onSuccess: ({ undo }) =>
            say(t(pinned ? 'memories.pinnedToast' : 'memories.unpinnedToast', { count: units.length }), undo),
        },
      ),
    /** @param now purges them, which cannot be taken back */
    forget: (units: readonly MemoryUnit[], now: boolean, onDone: () => void = () => {}) =>
      forget.mutate(
        { ids: idsOf(units), now },
        {
          onSuccess: ({ forgotten, undo, note }) => {
            const [only] = units;
            const text =
              only !== undefined && units.length === 1 && !now
                ? t('memories.forgotOne', { text: short(only.content) })
                : t(now ? 'memories.purgedToast' : 'memories.forgotMany', { count: forgotten });
            say(note === null ? text : `${text}. ${note}`, undo);
            onDone();
          },
        },
      ),
    restore: (units: readonly MemoryUnit[]) =>
      restore.mutate(
        { ids: idsOf(units) },
        { onSuccess: ({ restored }) => say(t('memories.restoredToast', { count: restored }), null) },
      ),
  };
}

/** A memory's first words, for one line. */
function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 48 ? line : `${line.slice(0, 47).trimEnd()}…`;
}
