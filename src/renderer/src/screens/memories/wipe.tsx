import { useState } from 'react';
import type { RouteOutput } from '../../../../shared/contract.ts';
import { formatTime, formatWhen } from '../../../../shared/format.ts';
import { scopeName } from '../../../../shared/memory.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useNow } from '../../ui/hooks.ts';
import { Button, Field, Note, Select } from '../../ui/primitives.tsx';
import { useExport } from './files.tsx';
import { scopeWords } from './words.ts';

/** Forgets everything, of one scope or of all: typed to be meant, with a copy saved first for those who want one. */
export function WipeDialog({ onClose }: { onClose: () => void }) {
  const t = useT();
  const scopes = useRoute('memory.scopes', {});
  const wipe = useCommand('memory.wipe');
  const save = useExport();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState('');
  const [now, setNow] = useState(false);
  const word = t('memories.wipeWord');
  const isMeant = typed.trim().toLocaleLowerCase(t.locale) === word.toLocaleLowerCase(t.locale);
  if (wipe.isSuccess) return <Proof result={wipe.data} onClose={onClose} />;
  const list = scopes.data ?? [];
  const scope = list.find((row) => scopeName(row.scope) === chosen)?.scope;
  return (
    <Dialog
      open
      title={t('memories.wipeTitle')}
      description={t('memories.wipeDetail')}
      onClose={onClose}
      footer={
        <>
          <Button disabled={save.busy} onClick={() => void save.run()}>
            {t('memories.exportFirst')}
          </Button>
          <span className="grow" />
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            tone="danger"
            disabled={!isMeant || wipe.isPending}
            onClick={() => wipe.mutate({ now, ...(scope === undefined ? {} : { scope }) })}
          >
            {t(now ? 'memories.purge' : 'memories.forget')}
          </Button>
        </>
      }
    >
      {list.length < 2 ? null : (
        <Field id="wipe-scope" label={t('memories.scope')}>
          <Select id="wipe-scope" value={chosen} onChange={(event) => setChosen(event.target.value)}>
            <option value="">{t('memories.allScopes')}</option>
            {list.map((row) => (
              <option key={scopeName(row.scope)} value={scopeName(row.scope)}>
                {`${scopeWords(row.scope, t)} (${t('memories.count', { count: row.units })})`}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <div className="flex check-line">
        <input
          id="wipe-now"
          type="checkbox"
          className="check"
          checked={now}
          onChange={(event) => setNow(event.target.checked)}
        />
        <label htmlFor="wipe-now" className="grow">
          {t('memories.wipeNow')}
        </label>
      </div>
      <Field id="wipe-word" label={t('memories.wipeType', { word })}>
        <div className="input">
          <input
            id="wipe-word"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
      </Field>
    </Dialog>
  );
}

/** What is gone, counted; and until when it can be brought back. */
function Proof({ result, onClose }: { result: RouteOutput<'memory.wipe'>; onClose: () => void }) {
  const t = useT();
  const now = useNow(60_000);
  const toast = useUi((state) => state.toast);
  const stats = useRoute('memory.stats', {});
  const takeBack = useCommand('undo.apply');
  const { undo } = result;
  return (
    <Dialog
      open
      title={t(undo === null ? 'memories.wipedNow' : 'memories.wiped')}
      description={t(undo === null ? 'memories.wipedNowCounts' : 'memories.wipedCounts', {
        units: t('memories.count', { count: result.forgotten }),
        turns: t('memories.lines', { count: result.turns }),
      })}
      onClose={onClose}
      footer={
        <>
          {undo === null ? null : (
            <Button
              disabled={takeBack.isPending}
              onClick={() =>
                takeBack.mutate(
                  { token: undo.token },
                  {
                    onSuccess: () => {
                      toast(t('common.undone'));
                      onClose();
                    },
                  },
                )
              }
            >
              {t('common.undo')}
            </Button>
          )}
          <Button tone="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      <div className="import-result">
        {undo === null ? null : (
          <Note>
            {t('memories.wipedUntil', {
              when: `${formatWhen(undo.expiresAt, now, t.locale)}, ${formatTime(undo.expiresAt, t.locale)}`,
            })}
          </Note>
        )}
        {stats.data === undefined ? null : (
          <dl className="kv wide-kv">
            <dt>{t(undo === null ? 'memories.leftHere' : 'memories.leftUnits')}</dt>
            <dd>
              {t('memories.count', {
                count: stats.data.units + (undo === null ? stats.data.forgotten : 0),
              })}
            </dd>
            <dt>{t('memories.leftTurns')}</dt>
            <dd>{t('memories.lines', { count: stats.data.turns })}</dd>
          </dl>
        )}
      </div>
    </Dialog>
  );
}
