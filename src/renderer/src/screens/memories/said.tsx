import { Link } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useNow } from '../../ui/hooks.ts';

/** What was said, word for word, that fits the search; under the memories. */
export function Said({ text }: { text: string }) {
  const t = useT();
  const now = useNow(60_000);
  const found = useRoute('memory.search', { text, limit: 20 }, { enabled: text !== '' });
  const turns = (found.data ?? []).flatMap((hit) => (hit.type === 'turn' ? [hit] : []));
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
