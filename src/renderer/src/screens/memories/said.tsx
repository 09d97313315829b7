import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { MemoryHit } from '../../../../shared/memory.ts';
import { call, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useNow } from '../../ui/hooks.ts';
import { useFilter } from './filter.ts';

/** What was said, word for word, that fits the search; under the memories. */
export function Said({ text }: { text: string }) {
  const t = useT();
  const now = useNow(60_000);
  const turns = useSaid(text);
  if (text === '' || turns.length === 0) return null;
  return (
    <section className="said" aria-label={t('memories.said')}>
      <h2 className="label">{t('memories.said')}</h2>
      {turns.map(({ turn, reason }) => (
        <div key={turn.id} className="line-item">
          <div className="grow">
            <p className="two-lines selectable">{turn.text}</p>
            <div className="sm t3 cut">
              {turn.role === 'user' ? t('memories.you') : t('memories.assistant')},{' '}
              {formatWhen(turn.saidAt, now, t.locale)}
              <span className="dot-sep">{reason}</span>
            </div>
          </div>
          {turn.turnId === null ? null : (
            <Link className="sm nowrap" href={`/activity/${encodeURIComponent(turn.turnId)}`}>
              {t('proposals.openTurn')}
            </Link>
          )}
        </div>
      ))}
    </section>
  );
}

type SaidHit = Extract<MemoryHit, { type: 'turn' }>;

/** Scopes are asked one by one, since a turn reads only its own; those with most to say. */
const MOST_SCOPES = 8;
const MOST = 20;
/** What is less sure stands near something that fits, and says nothing by itself. */
const RELEVANT = 0.3;

function useSaid(text: string): readonly SaidHit[] {
  const chosen = useFilter((state) => state.filter.scopes);
  const all = useRoute('memory.scopes', {}, { enabled: text !== '' });
  const rows = [...(all.data ?? [])].sort((a, b) => b.turns - a.turns);
  const scopes = (chosen.length > 0 ? chosen : rows.map(({ scope }) => scope)).slice(0, MOST_SCOPES);
  return useQueries({
    queries: scopes.map((scope) => ({
      queryKey: ['memory.search', { text, scope }],
      queryFn: () => call('memory.search', { text, scope, limit: MOST }),
      enabled: text !== '',
    })),
    combine: (results) => {
      const hits = results.flatMap(({ data }) => data ?? []);
      const turns = new Map(
        hits.flatMap((hit) =>
          hit.type === 'turn' && hit.score >= RELEVANT ? [[hit.turn.id, hit] as const] : [],
        ),
      );
      return [...turns.values()].sort((a, b) => b.score - a.score).slice(0, MOST);
    },
  });
}
