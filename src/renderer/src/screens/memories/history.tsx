import { Link } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { MemoryDetail, MemoryEvent } from '../../../../shared/memory.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useNow } from '../../ui/hooks.ts';

/** Values that stood here before, struck, with the time that they held; and what was done to it. Newest first. */
export function History({ memory }: { memory: MemoryDetail }) {
  const t = useT();
  const now = useNow(60_000);
  const when = (at: string) => formatWhen(at, now, t.locale);
  const begun = memory.validFrom ?? memory.observedAt;
  // What took its place is shown with its words.
  const events = memory.history.filter(({ what }) => what !== 'superseded' || memory.supersededBy === null);
  return (
    <section className="sect" aria-label={t('memories.history')}>
      <h2 className="label">{t('memories.history')}</h2>
      <ol className="hist">
        {memory.status === 'active' ? (
          <li className="now">
            <div>{t('memories.currentValue')}</div>
            <div className="sm t3">{t('memories.since', { when: when(begun) })}</div>
          </li>
        ) : memory.supersededBy === null ? null : (
          <Replacement id={memory.supersededBy} />
        )}
        {[...events].reverse().map((event) => (
          <Step key={`${event.at} ${event.what} ${event.detail}`} event={event} when={when(event.at)} />
        ))}
        {memory.replaced.map((older) => (
          <li key={older.id}>
            <Link className="row-link t2 gone" href={`/memories/${encodeURIComponent(older.id)}`}>
              {older.content}
            </Link>
            <div className="sm t3">
              {t('memories.held', {
                from: when(older.validFrom ?? older.observedAt),
                to: when(older.validTo ?? begun),
              })}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Replacement({ id }: { id: string }) {
  const t = useT();
  const newer = useRoute('memory.get', { id });
  return (
    <li className="now">
      <div className="sm t3">{t('memories.replacedBy')}</div>
      <Link href={`/memories/${encodeURIComponent(id)}`}>{newer.data?.content ?? t('memories.newer')}</Link>
    </li>
  );
}

function Step({ event, when }: { event: MemoryEvent; when: string }) {
  const t = useT();
  const isOldText = event.what === 'edited' && event.detail !== '';
  return (
    <li>
      {isOldText ? <div className="t2 gone">{event.detail}</div> : null}
      <div className="sm t3">
        {t(`memories.event.${event.what}`)} {t(`memories.eventBy.${event.by}`)}, {when}
        {event.detail === '' || isOldText ? '' : `. ${event.detail}`}
      </div>
    </li>
  );
}
