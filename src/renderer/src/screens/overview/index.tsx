import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useNow, useSnapshot } from '../../ui/hooks.ts';
import { Shell } from '../../ui/shell.tsx';
import { Banners } from './banners.tsx';
import { DemoPanel } from './demo.tsx';
import { LearningPanel } from './learning.tsx';
import { TurnPath } from './path.tsx';
import { RecentTurns } from './recent.tsx';
import { SetupCard } from './setup-card.tsx';
import { Today } from './today.tsx';
import { WaitingPanel } from './waiting.tsx';

/** How many of today's turns the figures look at. */
const SAMPLE = 200;

/** What happens now, what happened today, and what waits for a decision. */
export function Overview() {
  const t = useT();
  const snapshot = useSnapshot();
  const now = useNow(30_000);
  const turns = useRoute('turns.list', { limit: SAMPLE, kind: 'main' });
  const recent = turns.data?.turns ?? [];
  const day = new Date(now).toDateString();
  const today = recent.filter((turn) => new Date(turn.startedAt).toDateString() === day);
  return (
    <Shell title={t('nav.overview')}>
      <div className="body">
        <div className="grow pad scroll">
          <Banners now={now} />
          <TurnPath today={today} last={recent[0]} now={now} />
          <div className="cols">
            <div className="col cols-main">
              <Today today={today} now={now} />
              <RecentTurns query={turns} />
            </div>
            <div className="col cols-side">
              <SetupCard />
              {snapshot.waiting.proposals > 0 ? <WaitingPanel /> : null}
              <LearningPanel />
              <DemoPanel />
            </div>
          </div>
        </div>
      </div>
    </Shell>
  );
}
