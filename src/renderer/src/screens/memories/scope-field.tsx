import { useState } from 'react';
import { type MemoryScope, scopeName } from '../../../../shared/memory.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Field, Select } from '../../ui/primitives.tsx';
import { isSameScope } from './filter.ts';
import { scopeWords } from './words.ts';

const EVERYWHERE: MemoryScope = { user: '', workspace: '', agent: '' };
const OTHER = 'other';

/** Whose memory it is: one of the scopes that there are, or a workspace by name. */
export function ScopeField(props: {
  id: string;
  value: MemoryScope;
  onChange: (scope: MemoryScope) => void;
}) {
  const t = useT();
  const { id, value } = props;
  const scopes = useRoute('memory.scopes', {});
  const [isNew, setIsNew] = useState(false);
  const known = [EVERYWHERE, ...(scopes.data ?? []).map(({ scope }) => scope)].filter(
    (scope, at, all) => all.findIndex((other) => isSameScope(other, scope)) === at,
  );
  const options = known.some((scope) => isSameScope(scope, value)) || isNew ? known : [...known, value];
  return (
    <Field id={id} label={t('memories.scope')}>
      <Select
        id={id}
        value={isNew ? OTHER : scopeName(value)}
        onChange={(event) => {
          const chosen = options.find((scope) => scopeName(scope) === event.target.value);
          setIsNew(chosen === undefined);
          props.onChange(chosen ?? EVERYWHERE);
        }}
      >
        {options.map((scope) => (
          <option key={scopeName(scope)} value={scopeName(scope)}>
            {scopeWords(scope, t)}
          </option>
        ))}
        <option value={OTHER}>{t('memories.otherScope')}</option>
      </Select>
      {isNew ? (
        <div className="input">
          <input
            aria-label={t('memories.workspace')}
            placeholder={t('memories.workspace')}
            value={value.workspace}
            maxLength={500}
            onChange={(event) => props.onChange({ ...EVERYWHERE, workspace: event.target.value })}
          />
        </div>
      ) : null}
    </Field>
  );
}
