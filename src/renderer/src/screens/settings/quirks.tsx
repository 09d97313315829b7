import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Button, Panel } from '../../ui/primitives.tsx';

/** What providers were found not to take, and the way to forget it; nothing where nothing is known. */
export function QuirksPart() {
  const t = useT();
  const known = useRoute('quirks.list', {});
  const forget = useCommand('quirks.forget');
  if (known.data === undefined || known.data.length === 0) return null;
  return (
    <Panel
      title={t('settings.quirks')}
      end={<span className="sm t3 hide-narrow">{t('settings.quirksHelp')}</span>}
    >
      {known.data.map(({ host, model, effects }) => (
        <div className="line-item" key={`${host} ${model}`}>
          <div className="grow selectable">
            <div>{`${model}, ${host}`}</div>
            <div className="sm t3 mono">{effects.join(' ')}</div>
          </div>
          <Button
            small
            aria-label={t('settings.quirksForgetOf', { model })}
            disabled={forget.isPending}
            onClick={() => forget.mutate({ host, model })}
          >
            {t('settings.quirksForget')}
          </Button>
        </div>
      ))}
    </Panel>
  );
}
