import { parsePatch } from 'diff';
import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { RouteOutput } from '../../../../shared/contract.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Badge, Button, Panel, Segments } from '../../ui/primitives.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';

/** What waits for a hand on the library: newer texts of built-in skills, and skills in each other's way. */
export function Upkeep() {
  const t = useT();
  const bank = useRoute('skills.bank', {});
  const overlaps = useRoute('skills.overlaps', {});
  const failed = bank.isError ? bank : overlaps.isError ? overlaps : null;
  if (failed !== null) {
    return (
      <div className="pad grow">
        <InlineError error={failed.error} onRetry={() => void failed.refetch()} />
      </div>
    );
  }
  if (bank.data === undefined || overlaps.data === undefined) return <SkeletonRows rows={4} />;
  if (bank.data.length + overlaps.data.length === 0) {
    return (
      <div className="body">
        <Empty icon={<CircleCheck className="big" aria-hidden="true" />} title={t('skills.upkeepNone')}>
          {t('skills.upkeepNoneHow')}
        </Empty>
      </div>
    );
  }
  return (
    <div className="body">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
      <section className="grow scroll pad upkeep" tabIndex={0} aria-label={t('skills.upkeep')}>
        {bank.data.length === 0 ? null : (
          <section>
            <h2 className="section-title">{t('skills.updates')}</h2>
            <p className="t2 section-title">{t('skills.updatesHow')}</p>
            {bank.data.map((update) => (
              <Update key={update.name} update={update} />
            ))}
          </section>
        )}
        {overlaps.data.length === 0 ? null : (
          <section>
            <h2 className="section-title">{t('skills.overlaps')}</h2>
            <p className="t2 section-title">{t('skills.overlapsHow')}</p>
            <div className="panel">
              {overlaps.data.map((overlap) => (
                <Overlap key={`${overlap.name} ${overlap.other} ${overlap.message}`} overlap={overlap} />
              ))}
            </div>
          </section>
        )}
      </section>
    </div>
  );
}

function Update({ update }: { update: RouteOutput<'skills.bank'>[number] }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const take = useCommand('skills.takeFromBank');
  const keep = useCommand('skills.keepMine');
  const [by, setBy] = useState<'words' | 'lines'>('words');
  const { name } = update;
  const busy = take.isPending || keep.isPending;
  return (
    <Panel
      title={name}
      level={3}
      className="update"
      end={
        <>
          <Segments
            label={t('skills.compare')}
            value={by}
            options={[
              { value: 'words', label: t('proposals.words') },
              { value: 'lines', label: t('proposals.lines') },
            ]}
            onChange={setBy}
          />
          <Button
            small
            disabled={busy}
            onClick={() => keep.mutate({ name }, { onSuccess: () => toast(t('skills.keptMine', { name })) })}
          >
            {t('skills.keepMine')}
          </Button>
          <Button
            small
            disabled={busy}
            onClick={() =>
              take.mutate(
                { name },
                { onSuccess: ({ undo }) => toast(t('skills.tookTheirs', { name }), { undo }) },
              )
            }
          >
            {t('skills.takeTheirs')}
          </Button>
        </>
      }
    >
      <div className="pad4">
        {hunksOf(update.diff).map(({ before, after, at }) => (
          <TextDiff key={at} before={before} after={after} by={by} />
        ))}
      </div>
    </Panel>
  );
}

function Overlap({ overlap }: { overlap: RouteOutput<'skills.overlaps'>[number] }) {
  const { name, other, message } = overlap;
  return (
    <div className="line-item">
      <div className="grow">
        <div className="flex">
          <SkillLink name={name} />
          {other === name ? null : <SkillLink name={other} />}
        </div>
        <div className="sm t3">{message}</div>
      </div>
    </div>
  );
}

function SkillLink({ name }: { name: string }) {
  return (
    <Link href={`/skills/library/${encodeURIComponent(name)}`}>
      <Badge tone="line">{name}</Badge>
    </Link>
  );
}

/** The pieces of a unified diff as the texts before and after, with a little of what stands around. */
function hunksOf(diff: string): { at: number; before: string; after: string }[] {
  return parsePatch(diff).flatMap(({ hunks }) =>
    hunks.map(({ oldStart, lines }) => {
      const side = (mark: string) =>
        lines
          .filter((line) => line.startsWith(' ') || line.startsWith(mark))
          .map((line) => line.slice(1))
          .join('\n');
      return { at: oldStart, before: side('-'), after: side('+') };
    }),
  );
}
