import { useState } from 'react';
import { useLocation } from 'wouter';
import type { RouteOutput } from '../../../../shared/contract.ts';
import { callHost, useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Note } from '../../ui/primitives.tsx';

/** Brings in a skill's folder, or a folder of such; what is left out is said with the reason. */
export function ImportButton() {
  const t = useT();
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const run = useCommand('skills.import');
  const [result, setResult] = useState<RouteOutput<'skills.import'> | null>(null);
  const pick = async () => {
    const { path } = await callHost('host.pickPath', { what: 'folder', title: t('skills.importTitle') });
    if (path === null) return;
    run.mutate(
      { path },
      {
        onSuccess: (done) => {
          const [first] = done.added;
          if (first !== undefined) {
            if (done.skipped.length === 0) toast(t('skills.importedToast', { count: done.added.length }));
            navigate(`/skills/library/${encodeURIComponent(first)}`);
          }
          if (done.skipped.length > 0) setResult(done);
        },
      },
    );
  };
  return (
    <>
      <Button tone="quiet" disabled={run.isPending} onClick={() => void pick()}>
        {t('skills.import')}
      </Button>
      {result === null ? null : (
        <Dialog
          open
          title={t('skills.importedToast', { count: result.added.length })}
          description={t('skills.importSkipped', { count: result.skipped.length })}
          onClose={() => setResult(null)}
          footer={<Button onClick={() => setResult(null)}>{t('common.close')}</Button>}
        >
          <ul className="findings">
            {result.skipped.map(({ path, reason }) => (
              <li key={path}>
                <Note tone="warn">
                  <div className="mono selectable excerpt">{path}</div>
                  {reason}
                </Note>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  );
}
