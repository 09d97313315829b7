import { useState } from 'react';
import { Link } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { MessageKey } from '../../../../shared/i18n/index.ts';
import type { SkillAuthor, SkillDetail, SkillVersion } from '../../../../shared/model.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useNow } from '../../ui/hooks.ts';
import { Button, Segments } from '../../ui/primitives.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';

const AUTHORS: Record<SkillAuthor, MessageKey> = {
  user: 'skills.author.user',
  learned: 'skills.author.learned',
  'built-in': 'skills.author.builtIn',
  outside: 'skills.author.outside',
};

/** Every text that a skill has had: who wrote it, what changed, and the way back to it. */
export function History({ skill }: { skill: SkillDetail }) {
  const t = useT();
  const history = useRoute('skills.history', { name: skill.name });
  const [chosen, setChosen] = useState<number | null>(null);
  if (history.isError) return <InlineError error={history.error} onRetry={() => void history.refetch()} />;
  if (history.isPending) return <SkeletonRows rows={3} />;
  const versions = history.data;
  const at = Math.max(
    0,
    versions.findIndex(({ version }) => version === chosen),
  );
  const selected = versions[at];
  return (
    <div className="history">
      <ol className="versions" aria-label={t('skills.history')}>
        {versions.map((version) => (
          <li key={version.version}>
            <VersionRow
              version={version}
              isChosen={version === selected}
              onChoose={() => setChosen(version.version)}
            />
          </li>
        ))}
      </ol>
      {selected === undefined ? null : (
        <VersionView
          key={selected.version}
          skill={skill}
          version={selected}
          before={versions[at + 1]}
          isNewest={at === 0}
          onRestored={() => setChosen(null)}
        />
      )}
    </div>
  );
}

function VersionRow(props: { version: SkillVersion; isChosen: boolean; onChoose: () => void }) {
  const t = useT();
  const now = useNow(60_000);
  const { version } = props;
  return (
    <button type="button" className="version" aria-pressed={props.isChosen} onClick={props.onChoose}>
      <span className="med">{t('skills.version', { number: String(version.version) })}</span>
      <span className="sm t3 cut">
        {[
          formatWhen(version.at, now, t.locale),
          t(AUTHORS[version.author]),
          version.removed ? t('skills.wasRemoved') : '',
        ]
          .filter(Boolean)
          .join(', ')}
      </span>
    </button>
  );
}

function VersionView(props: {
  skill: SkillDetail;
  version: SkillVersion;
  before: SkillVersion | undefined;
  isNewest: boolean;
  onRestored: () => void;
}) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const restore = useCommand('skills.restore');
  const [by, setBy] = useState<'words' | 'lines'>('words');
  const { skill, version, before } = props;
  const { name } = skill;
  const hasBefore = before !== undefined && !before.removed;
  const text = useRoute('skills.version', { name, version: version.version }, { enabled: !version.removed });
  const earlier = useRoute('skills.version', { name, version: before?.version ?? 1 }, { enabled: hasBefore });
  const doRestore = () =>
    restore.mutate(
      { name, version: version.version },
      {
        onSuccess: ({ undo }) => {
          toast(t('skills.restoredToast', { name, number: String(version.version) }), { undo });
          props.onRestored();
        },
      },
    );
  return (
    <section className="grow" aria-label={t('skills.version', { number: String(version.version) })}>
      <div className="flex version-bar">
        <div className="grow sm t2 selectable">
          {version.note}
          {version.turns.map((turn) => (
            <Link key={turn} className="sm nowrap turn-link" href={`/activity/${encodeURIComponent(turn)}`}>
              {t('proposals.openTurn')}
            </Link>
          ))}
        </div>
        {hasBefore ? (
          <Segments
            label={t('skills.compare')}
            value={by}
            options={[
              { value: 'words', label: t('proposals.words') },
              { value: 'lines', label: t('proposals.lines') },
            ]}
            onChange={setBy}
          />
        ) : null}
        {props.isNewest || version.removed ? null : (
          <Button disabled={restore.isPending || skill.locked || !skill.writable} onClick={doRestore}>
            {t('skills.restore')}
          </Button>
        )}
      </div>
      {version.removed ? (
        <p className="t2">{t('skills.wasRemoved')}</p>
      ) : text.data === undefined || (hasBefore && earlier.data === undefined) ? (
        <SkeletonRows rows={4} />
      ) : hasBefore ? (
        <TextDiff before={earlier.data?.content ?? ''} after={text.data.content} by={by} />
      ) : (
        <pre className="pre selectable">{text.data.content}</pre>
      )}
    </section>
  );
}
