import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AppError } from '../../../../shared/errors.ts';
import { call, callHost, useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { InlineError } from '../../ui/feedback.tsx';
import { Button, Note } from '../../ui/primitives.tsx';

const READABLE = ['json', 'jsonl', 'md', 'markdown', 'txt', 'db', 'sqlite'];
/** Lines that are left out beyond these are only counted. */
const FEW = 20;

/** Asks for the file to import from; null when none was chosen. */
export function useImportFile(): () => Promise<string | null> {
  const t = useT();
  return async () => {
    const { path } = await callHost('host.pickPath', {
      what: 'file',
      title: t('memories.importTitle'),
      extensions: READABLE,
    });
    return path;
  };
}

/** Asks where to, then writes all memories there: Markdown when the name ends so, otherwise JSON lines. */
export function useExport(): { busy: boolean; run: () => Promise<void> } {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const save = useCommand('memory.export');
  return {
    busy: save.isPending,
    run: async () => {
      const { path } = await callHost('host.pickPath', {
        what: 'new-file',
        title: t('memories.exportTitle'),
        name: 'metaclaw-memories.jsonl',
        extensions: ['jsonl', 'md'],
      });
      if (path === null) return;
      const format = /\.(md|markdown)$/i.test(path) ? 'markdown' : 'jsonl';
      await save.mutateAsync({ to: path, format }).then(
        ({ units, turns }) =>
          toast(`${t('memories.exported', { count: units })}, ${t('memories.lines', { count: turns })}`),
        // Said by the command itself.
        () => {},
      );
    },
  };
}

/** What a file would bring, before anything is written. */
export function ImportDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const [showsLeftOut, setShowsLeftOut] = useState(false);
  const trial = useQuery({
    queryKey: ['import-trial', path],
    queryFn: () => call('memory.import', { path, dryRun: true }),
    staleTime: 0,
    gcTime: 0,
  });
  const run = useCommand('memory.import');
  const doImport = () =>
    run.mutate(
      { path },
      {
        onSuccess: ({ added }) => {
          toast(t('memories.importedToast', { count: added }));
          onClose();
        },
      },
    );
  const found = trial.data;
  const isEmpty = found !== undefined && found.added + found.merged + found.turns === 0;
  return (
    <Dialog
      open
      title={t('memories.importTitle')}
      description={t('memories.importDetail')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            tone="primary"
            disabled={found === undefined || isEmpty || run.isPending}
            onClick={doImport}
          >
            {t(run.isPending ? 'memories.importing' : 'memories.importDo')}
          </Button>
        </>
      }
    >
      <div className="mono selectable file-path">{path}</div>
      {trial.isError ? (
        <div className="import-result">
          <InlineError error={trial.error as AppError} onRetry={() => void trial.refetch()} />
        </div>
      ) : found === undefined ? (
        <p className="t3 import-result" role="status">
          {t('memories.importReading')}
        </p>
      ) : (
        <div className="import-result">
          <dl className="kv wide-kv">
            <dt>{t('memories.wouldAdd')}</dt>
            <dd>{t('memories.count', { count: found.added })}</dd>
            <dt>{t('memories.wouldMerge')}</dt>
            <dd>{t('memories.count', { count: found.merged })}</dd>
            <dt>{t('memories.conversation')}</dt>
            <dd>{t('memories.lines', { count: found.turns })}</dd>
          </dl>
          {isEmpty ? <Note>{t('memories.importNothing')}</Note> : null}
          {found.skipped.length === 0 ? null : (
            <Note
              tone="warn"
              action={
                showsLeftOut ? undefined : (
                  <Button small onClick={() => setShowsLeftOut(true)}>
                    {t('memories.show')}
                  </Button>
                )
              }
            >
              {t('memories.leftOut', { count: found.skipped.length })}
              {showsLeftOut ? (
                <ul className="selectable left-out">
                  {found.skipped.slice(0, FEW).map(({ line, reason }) => (
                    <li key={`${line} ${reason}`}>
                      <span className="mono">{line}</span> {reason}
                    </li>
                  ))}
                </ul>
              ) : null}
            </Note>
          )}
        </div>
      )}
    </Dialog>
  );
}
