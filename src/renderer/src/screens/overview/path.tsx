import type { ReactNode } from 'react';
import { agentMark } from '../../../../shared/agents.ts';
import { formatDuration, formatNumber, formatTime, formatWhen } from '../../../../shared/format.ts';
import type { TurnSummary } from '../../../../shared/model.ts';
import { providerLabel } from '../../../../shared/status.ts';
import { useT } from '../../i18n.tsx';
import { Glyph } from '../../ui/glyph.tsx';
import { agentLabel, proxyAddress, useSnapshot } from '../../ui/hooks.ts';
import { Mark } from '../../ui/primitives.tsx';

/** The way of a turn from the agents to the provider; it lights up as far as turns came through. */
export function TurnPath(props: {
  today: readonly TurnSummary[];
  last: TurnSummary | undefined;
  now: number;
}) {
  const t = useT();
  const snapshot = useSnapshot();
  const isRunning = snapshot.proxy.state === 'running';
  const isBroken = snapshot.provider.lastError !== null || !snapshot.provider.configured;
  return (
    <section className="path" aria-label={t('overview.path')}>
      <AgentsNode last={props.last} today={props.today} now={props.now} />
      <Wire state={!isRunning ? 'broken' : props.last === undefined ? 'off' : 'on'} />
      <MetaClawNode />
      <Wire state={isBroken ? 'broken' : !isRunning || props.last === undefined ? 'off' : 'on'} />
      <ProviderNode today={props.today} />
    </section>
  );
}

function Wire({ state }: { state: 'on' | 'off' | 'broken' }) {
  return (
    <svg className={`wire ${state}`} viewBox="0 0 48 12" width="48" height="12" aria-hidden="true">
      <line x1="0" y1="6" x2="44" y2="6" />
      {state === 'broken' ? null : <path d="m40 2 4.5 4-4.5 4" />}
    </svg>
  );
}

function Node(props: { label: string; middle?: boolean; main: ReactNode; detail: string }) {
  return (
    <div className={props.middle ? 'node mid' : 'node'}>
      <div className="label">{props.label}</div>
      <div className="flex node-main">{props.main}</div>
      <div className="sm t3 cut" title={props.detail}>
        {props.detail}
      </div>
    </div>
  );
}

function AgentsNode(props: { last: TurnSummary | undefined; today: readonly TurnSummary[]; now: number }) {
  const t = useT();
  const snapshot = useSnapshot();
  const { last } = props;
  if (last === undefined) {
    const address = proxyAddress(snapshot);
    return (
      <Node
        label={t('overview.agents')}
        main={<span className="semi">{t('overview.noAgents')}</span>}
        detail={address === null ? t('overview.notListening') : t('overview.pointOne', { address })}
      />
    );
  }
  const agents = [...new Set([last.agent, ...props.today.map((turn) => turn.agent)])];
  return (
    <Node
      label={t('overview.agents')}
      main={
        <>
          {agents.slice(0, 3).map((agent) => (
            <Mark key={agent} text={agentMark(agent)} title={agentLabel(agent, t)} />
          ))}
          <span className="semi cut">
            {agents.length === 1
              ? agentLabel(last.agent, t)
              : t('overview.agentsSeen', { count: agents.length })}
          </span>
        </>
      }
      detail={t('overview.lastTurn', {
        time: formatWhen(last.startedAt, props.now, t.locale),
        agent: agentLabel(last.agent, t),
      })}
    />
  );
}

function MetaClawNode() {
  const t = useT();
  const { today, bypass, proxy } = useSnapshot();
  const words = (): [string, string] => {
    if (proxy.state === 'failed') return [t('nav.proxyFailed'), t('overview.notListening')];
    if (proxy.state !== 'running') return [t('nav.proxyStopped'), t('overview.notListening')];
    if (bypass) return [t('overview.bypassed'), t('overview.bypassedDetail')];
    if (today.turns === 0) return [t('overview.noTurns'), t('overview.addsMatching')];
    const average = t('overview.tokensOnAverage', { count: Math.round(today.addedTokens / today.turns) });
    if (today.skillsPerTurn === 0) return [t('overview.nothingAdded'), t('overview.addsMatching')];
    return [t('overview.skillsPerTurn', { value: formatNumber(today.skillsPerTurn, t.locale, 1) }), average];
  };
  const [main, detail] = words();
  return (
    <Node
      middle
      label={t('overview.metaclaw')}
      main={<span className="semi cut">{main}</span>}
      detail={detail}
    />
  );
}

function ProviderNode({ today }: { today: readonly TurnSummary[] }) {
  const t = useT();
  const { provider } = useSnapshot();
  const { lastError } = provider;
  if (!provider.configured) {
    return (
      <Node
        label={t('overview.provider')}
        main={<State tone="warn" level="warning" text={t('overview.noProvider')} />}
        detail={t('overview.noProviderDetail')}
      />
    );
  }
  const model = provider.model || providerLabel(provider) || t('overview.noModel');
  if (lastError !== null) {
    const since = formatTime(lastError.since, t.locale);
    const { status } = lastError;
    const detail =
      status === null
        ? t('overview.brokenReach', { since })
        : status === 401 || status === 403
          ? t('overview.brokenKey', { status, since })
          : t('overview.brokenStatus', { status, since });
    return (
      <Node
        label={t('overview.provider')}
        main={<State tone="danger" level="problem" text={model} />}
        detail={detail}
      />
    );
  }
  const bytes = today.flatMap((turn) => (turn.firstByteMs === null ? [] : [turn.firstByteMs]));
  const detail =
    bytes.length === 0
      ? providerLabel(provider) || t('overview.noAnswerYet')
      : t('overview.firstByte', {
          value: formatDuration(median(bytes), t.locale),
          turns: t('overview.turnsShort', { count: bytes.length }),
        });
  return (
    <Node label={t('overview.provider')} main={<State tone="ok" level="ok" text={model} />} detail={detail} />
  );
}

function State(props: { tone: 'ok' | 'warn' | 'danger'; level: 'ok' | 'warning' | 'problem'; text: string }) {
  return (
    <span className={`state cut ${props.tone}`}>
      <Glyph level={props.level} />
      <span className="semi cut">{props.text}</span>
    </span>
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
