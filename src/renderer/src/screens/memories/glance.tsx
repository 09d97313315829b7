import { formatNumber } from '../../../../shared/format.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Note } from '../../ui/primitives.tsx';
import { useFilter } from './filter.ts';

/** What is remembered in all and how, while no single memory is open. */
export function Glance() {
  const t = useT();
  const change = useFilter((state) => state.change);
  const stats = useRoute('memory.stats', {});
  const { data } = stats;
  if (data === undefined) return null;
  return (
    <>
      <section className="sect" aria-label={t('memories.glance')}>
        <h2 className="label">{t('memories.glance')}</h2>
        <dl className="kv">
          <dt>{t('memories.title')}</dt>
          <dd>{formatNumber(data.units, t.locale)}</dd>
          <dt>{t('memories.conversation')}</dt>
          <dd>{t('memories.lines', { count: data.turns })}</dd>
          <dt>{t('memories.pending')}</dt>
          <dd>{t('memories.lines', { count: data.pending })}</dd>
          <dt>{t('memories.extractor')}</dt>
          <dd>{t(`memories.extractors.${data.extractor}`)}</dd>
          <dt>{t('memories.search')}</dt>
          <dd>{t(`memories.modes.${data.mode}`)}</dd>
        </dl>
        {data.forgotten === 0 ? null : (
          <button
            type="button"
            className="linkish sm"
            onClick={() => change({ statuses: ['forgotten'], pinned: false, expiring: false })}
          >
            {t('memories.inTrash', { count: data.forgotten })}
          </button>
        )}
      </section>
      {data.embeddings === '' ? null : (
        <section className="sect sm t3" aria-label={t('memories.embeddings')}>
          {data.embeddings}
        </section>
      )}
      {data.lastError === null ? null : (
        <div className="sect">
          <Note tone="warn" role="status">
            <b>{t('memories.lastError')}.</b> {data.lastError}
          </Note>
        </div>
      )}
      <section className="sect sm t3 keys-help" aria-label={t('memories.keys')}>
        {(['move', 'mark', 'edit', 'pin', 'forget'] as const).map((key) => (
          <div key={key} className="flex">
            <span className="kbd">{t(`memories.key.${key}`)}</span>
            {t(`memories.keyFor.${key}`)}
          </div>
        ))}
      </section>
    </>
  );
}
