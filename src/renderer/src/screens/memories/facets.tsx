import { type ReactNode, useId, useState } from 'react';
import { formatNumber } from '../../../../shared/format.ts';
import { MEMORY_KINDS, MEMORY_STATUSES, scopeName } from '../../../../shared/memory.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { type Age, isSameScope, toggled, useFilter } from './filter.ts';
import { scopeWords } from './words.ts';

const AGES: readonly Age[] = ['today', 'last7Days', 'older'];
/** More scopes than these show on demand. */
const FEW = 6;

/** The boxes that narrow the list: whose, what kind, how old, in which state; each with its count. */
export function Facets({ text }: { text: string }) {
  const t = useT();
  const { filter, change } = useFilter();
  const facets = useRoute('memory.facets', { text });
  const [showsAll, setShowsAll] = useState(false);
  const { data } = facets;
  if (data === undefined) return null;
  const isChosen = (scope: (typeof data.scopes)[number]['scope']) =>
    filter.scopes.some((other) => isSameScope(other, scope));
  const scopes = data.scopes.filter(({ scope }, at) => showsAll || at < FEW || isChosen(scope));
  const kinds = new Map(data.kinds.map(({ kind, count }) => [kind, count]));
  const statuses = new Map(data.statuses.map(({ status, count }) => [status, count]));
  return (
    <>
      {scopes.length === 0 ? null : (
        <Group title={t('memories.scope')}>
          {scopes.map(({ scope, count }) => (
            <Box
              key={scopeName(scope)}
              label={scopeWords(scope, t)}
              title={scopeName(scope)}
              count={count}
              checked={isChosen(scope)}
              onChange={() => change({ scopes: toggled(filter.scopes, scope, isSameScope) })}
            />
          ))}
          {data.scopes.length > scopes.length ? (
            <button type="button" className="linkish sm" onClick={() => setShowsAll(true)}>
              {t('memories.moreScopes', { count: data.scopes.length - scopes.length })}
            </button>
          ) : null}
        </Group>
      )}
      <Group title={t('memories.kind')}>
        {MEMORY_KINDS.map((kind) => (
          <Box
            key={kind}
            label={t(`memories.kindOne.${kind}`)}
            count={kinds.get(kind) ?? 0}
            checked={filter.kinds.includes(kind)}
            onChange={() => change({ kinds: toggled(filter.kinds, kind) })}
          />
        ))}
      </Group>
      <Group title={t('memories.age')}>
        {AGES.map((age) => (
          <Box
            key={age}
            label={t(`memories.ages.${age}`)}
            count={data[age]}
            checked={filter.ages.includes(age)}
            onChange={() => change({ ages: toggled(filter.ages, age) })}
          />
        ))}
      </Group>
      <Group title={t('memories.state')}>
        {MEMORY_STATUSES.map((status) => (
          <Box
            key={status}
            label={t(`memories.states.${status}`)}
            count={statuses.get(status) ?? 0}
            checked={filter.statuses.includes(status)}
            onChange={() => change({ statuses: toggled(filter.statuses, status) })}
          />
        ))}
      </Group>
      <Group title={t('memories.only')}>
        <Box
          label={t('memories.pinned')}
          count={data.pinned}
          checked={filter.pinned}
          onChange={() => change({ pinned: !filter.pinned })}
        />
        <Box
          label={t('memories.expiringSoon')}
          count={data.expiringSoon}
          checked={filter.expiring}
          onChange={() => change({ expiring: !filter.expiring })}
        />
      </Group>
    </>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="facet">
      <legend className="label">{title}</legend>
      {children}
    </fieldset>
  );
}

function Box(props: {
  label: string;
  title?: string;
  count: number;
  checked: boolean;
  onChange: () => void;
}) {
  const t = useT();
  const id = useId();
  return (
    <div className="flex facet-row">
      <input id={id} type="checkbox" className="check" checked={props.checked} onChange={props.onChange} />
      <label htmlFor={id} className={props.checked ? 'grow cut' : 'grow cut t2'} title={props.title}>
        {props.label}
      </label>
      <span className="sm t3 num">{formatNumber(props.count, t.locale)}</span>
    </div>
  );
}
