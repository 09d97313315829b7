import { useState } from 'react';
import { type CapState, describeCap, formatCap, parseCap, spellCap } from '../../../../shared/usage.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Button, Panel } from '../../ui/primitives.tsx';
import { helpOf, Row, useSetting } from '../settings/row.tsx';

/** The cap on our own calls: where the day stands, and the cap itself. */
export function CapPanel({ cap }: { cap: CapState | null }) {
  const t = useT();
  return (
    <Panel title={t('usage.cap')}>
      {cap === null ? null : (
        <div className="pad4 usage-cap">
          <div>{describeCap(cap, t)}</div>
          {cap.state === 'unpriced' ? null : (
            <div className="meter" aria-hidden="true">
              <i className={cap.state} style={{ width: `${shareOf(cap) * 100}%` }} />
            </div>
          )}
        </div>
      )}
      <CapRow />
    </Panel>
  );
}

function CapRow() {
  const t = useT();
  const { entry, save } = useSetting('usage.daily_cap');
  const unset = useCommand('config.unset', ({ message }) => t('settings.notSaved', { message }));
  const [draft, setDraft] = useState<string | null>(null);
  const saved = entry?.value == null ? null : parseCap(String(entry.value));
  const shown = draft ?? (saved === null ? '' : formatCap(saved, t));
  const parsed = draft === null ? saved : parseCap(draft);
  const isValid = draft === null || draft.trim() === '' || parsed !== null;
  const commit = () => {
    if (draft === null || !isValid) return;
    if (parsed === null) unset.mutate({ path: 'usage.daily_cap' });
    else save(spellCap(parsed));
    setDraft(null);
  };
  return (
    <Row
      label={t('usage.capSet')}
      help={isValid ? helpOf(entry, t('usage.capHelp'), t) : t('usage.capWrong')}
      control={
        <span className="flex">
          {saved !== null && draft === null && entry?.overriddenBy === null ? (
            <Button small tone="quiet" onClick={() => unset.mutate({ path: 'usage.daily_cap' })}>
              {t('usage.capNone')}
            </Button>
          ) : null}
          <span className={isValid ? 'input usage-cap-input' : 'input usage-cap-input bad'}>
            <input
              aria-label={t('usage.capSet')}
              placeholder={t('usage.capPlaceholder')}
              value={shown}
              disabled={entry === undefined || entry.overriddenBy !== null}
              aria-invalid={!isValid}
              onFocus={() => setDraft(saved === null ? '' : String(spellCap(saved)))}
              onChange={(event) => setDraft(event.target.value)}
              onBlur={() => (isValid ? commit() : setDraft(null))}
              onKeyDown={(event) => {
                if (event.key === 'Enter') event.currentTarget.blur();
                if (event.key === 'Escape') setDraft(null);
              }}
            />
          </span>
        </span>
      }
    />
  );
}

function shareOf({ spent, cap }: CapState): number {
  return cap.amount === 0 ? 1 : Math.min(1, spent / cap.amount);
}
