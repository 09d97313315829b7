import { Layers, NotebookText } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { RouteOutput } from '../../../shared/contract.ts';
import {
  formatDuration,
  formatMoney,
  formatNumber,
  formatPercent,
  formatWhen,
} from '../../../shared/format.ts';
import type { InjectedItem, LeftOutItem, TurnDetail } from '../../../shared/model.ts';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../ui/feedback.tsx';
import { agentLabel, useNow } from '../ui/hooks.ts';
import { DetailTitle } from '../ui/list-parts.tsx';
import { Note } from '../ui/primitives.tsx';
import { Feedback } from './feedback.tsx';
import { ForgetInjected, FromConversation, InjectedText } from './memories/in-turn.tsx';

type Tab = 'added' | 'request' | 'sent' | 'answer';

/** One turn: what was added and why, the request before and after, and the answer. */
export function TurnView({ id }: { id: string }) {
  const t = useT();
  const turn = useRoute('turns.get', { id });
  const [tab, setTab] = useState<Tab>('added');
  if (turn.isError) {
    return turn.error.code === 'NOT_FOUND' ? (
      <Empty icon={null} title={t('activity.gone')}>
        {turn.error.message}
      </Empty>
    ) : (
      <div className="pad4">
        <InlineError error={turn.error} onRetry={() => void turn.refetch()} />
      </div>
    );
  }
  if (turn.isPending) return <SkeletonRows rows={4} />;
  const tabs: readonly [Tab, string, ReactNode][] = [
    ['added', t('activity.tabAdded'), <Added key="added" turn={turn.data} />],
    ['request', t('activity.tabRequest'), <Body key="request" text={turn.data.requestBody} />],
    ['sent', t('activity.tabSent'), <Sent key="sent" turn={turn.data} />],
    ['answer', t('activity.tabAnswer'), <Answer key="answer" turn={turn.data} />],
  ];
  return (
    <Tabs.Root className="detail-tabs" value={tab} onValueChange={(value) => setTab(value as Tab)}>
      <Title turn={turn.data} />
      <div className="bar tabs-bar">
        <Tabs.List className="tabs" aria-label={t('activity.turn', { n: turn.data.seq })}>
          {tabs.map(([value, label]) => (
            <Tabs.Trigger key={value} value={value}>
              {label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
      </div>
      {tabs.map(([value, , content]) => (
        <Tabs.Content key={value} value={value} className="grow scroll detail-body" tabIndex={0}>
          {content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}

function Title({ turn }: { turn: RouteOutput<'turns.get'> }) {
  const t = useT();
  const now = useNow(60_000);
  const [, navigate] = useLocation();
  const facts = [
    t('activity.turn', { n: turn.seq }),
    agentLabel(turn.agent, t),
    turn.model,
    turn.requestedModel === turn.model || turn.requestedModel === ''
      ? null
      : t('activity.asked', { model: turn.requestedModel }),
    turn.httpStatus === null ? t(`activity.state.${turn.status}`) : String(turn.httpStatus),
    formatWhen(turn.startedAt, now, t.locale),
  ].filter((fact) => fact !== null);
  return (
    <DetailTitle
      title={turn.userText || '–'}
      facts={
        <>
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
          <span className="mono fact-id">{turn.id}</span>
        </>
      }
      onBack={() => navigate('/activity')}
    >
      {turn.kind === 'main' ? <Feedback key={turn.id} turn={turn} /> : null}
    </DetailTitle>
  );
}

function Added({ turn }: { turn: RouteOutput<'turns.get'> }) {
  const t = useT();
  const { items, leftOut, tokens } = turn.injection;
  return (
    <div className="stack6">
      {turn.error === null ? null : (
        <Note tone="danger" role="status">
          <span className="selectable">{turn.error}</span>
        </Note>
      )}
      {turn.masked ? <Note tone="warn">{t('activity.masked')}</Note> : null}
      <Timing turn={turn} />
      <Tokens turn={turn} />
      {items.length === 0 ? (
        <NothingAdded turn={turn} />
      ) : (
        <Items
          title={t('activity.entered')}
          detail={`${t('activity.items', { count: items.length })}, ${t('activity.tokens', { count: tokens })}`}
        >
          {items.map((item) => (
            <Item key={`${item.kind} ${item.id}`} item={item} />
          ))}
        </Items>
      )}
      {leftOut.length === 0 ? null : (
        <Items title={t('activity.leftOut')} detail={t('activity.cameClose', { count: leftOut.length })}>
          {leftOut.map((item) => (
            <LeftOut key={`${item.kind} ${item.id}`} item={item} />
          ))}
        </Items>
      )}
      {turn.kind === 'main' ? <FromConversation turn={turn} /> : null}
    </div>
  );
}

function Items(props: { title: string; detail: string; children: ReactNode }) {
  return (
    <section>
      <div className="flex base section-title">
        <h3>{props.title}</h3>
        <span className="t3 sm">{props.detail}</span>
      </div>
      <div className="panel">{props.children}</div>
    </section>
  );
}

function NothingAdded({ turn }: { turn: TurnDetail }) {
  const t = useT();
  const { skipped, leftOut } = turn.injection;
  const fitted = leftOut.some(({ reason }) => reason !== 'below-threshold');
  return (
    <Note>
      <b>{t('activity.nothingEntered')}.</b>{' '}
      {skipped === null
        ? t(fitted ? 'activity.allLeftOut' : 'activity.noMatch')
        : t(`activity.skipped.${skipped}`)}
    </Note>
  );
}

function Item({ item }: { item: InjectedItem }) {
  const t = useT();
  const Icon = item.kind === 'skill' ? Layers : NotebookText;
  const place = item.place === 'system' ? t('activity.placeSystem') : t('activity.placeMessage');
  const why = `${item.reason}; ${t('activity.score', { value: formatNumber(item.score, t.locale, 2) })}. ${place}.`;
  return (
    <div className="line-item inj">
      <span className="t3">
        <Icon aria-hidden="true" />
      </span>
      <div className="grow">
        <div className="cut med">
          {item.kind === 'skill' ? (
            <Link className="row-link" href={`/skills/library/${encodeURIComponent(item.id)}`}>
              {item.title}
            </Link>
          ) : (
            <InjectedText item={item} />
          )}
        </div>
        <div className="sm t3">{why}</div>
      </div>
      {item.kind === 'memory' ? <ForgetInjected item={item} /> : null}
      <span className="num" title={t('activity.tokens', { count: item.tokens })}>
        {formatNumber(item.tokens, t.locale)}
      </span>
    </div>
  );
}

function LeftOut({ item }: { item: LeftOutItem }) {
  const t = useT();
  const Icon = item.kind === 'skill' ? Layers : NotebookText;
  return (
    <div className="line-item inj">
      <span className="t3">
        <Icon aria-hidden="true" />
      </span>
      <div className="grow">
        <div className="cut t2">{item.kind === 'memory' ? <InjectedText item={item} /> : item.id}</div>
        <div className="sm t3">{t(`activity.left.${item.reason}`)}</div>
      </div>
    </div>
  );
}

function Timing({ turn }: { turn: TurnDetail }) {
  const t = useT();
  const { durationMs, firstByteMs } = turn;
  if (durationMs === null) return null;
  const first = firstByteMs ?? durationMs;
  return (
    <div>
      <div className="med timing-total">{formatDuration(durationMs, t.locale)}</div>
      <div className="meter tall" aria-hidden="true">
        <i className="raw" style={{ width: `${durationMs === 0 ? 100 : (first / durationMs) * 100}%` }} />
      </div>
      {firstByteMs === null ? null : (
        <div className="flex sm t2 keys">
          <span className="key raw">
            {t('activity.firstByte', { value: formatDuration(firstByteMs, t.locale) })}
          </span>
          <span className="key rest">
            {t('activity.rest', { value: formatDuration(Math.max(0, durationMs - firstByteMs), t.locale) })}
          </span>
        </div>
      )}
    </div>
  );
}

function Tokens({ turn }: { turn: RouteOutput<'turns.get'> }) {
  const t = useT();
  const { usage } = turn;
  if (usage === null) return null;
  const about = usage.estimated ? `${t('activity.estimated')} ` : '';
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const tokens = (count: number) => `${about}${t('activity.tokens', { count })}`;
  return (
    <dl className="tk">
      <div>
        <dt className="t2">{t('activity.tokensIn')}</dt>
        <dd>{tokens(prompt)}</dd>
      </div>
      <div>
        <dt className="t2">{t('activity.tokensOut')}</dt>
        <dd>{tokens(usage.outputTokens)}</dd>
      </div>
      {usage.estimated ? null : (
        <div>
          <dt className="t2">{t('activity.tokensCache')}</dt>
          <dd>
            {t('activity.ofPrompt', {
              percent: formatPercent(prompt === 0 ? 0 : usage.cacheReadTokens / prompt, t.locale),
              tokens: formatNumber(prompt, t.locale),
            })}
          </dd>
          <Prefix turn={turn} />
        </div>
      )}
      <div>
        <dt className="t2">{t('usage.cost')}</dt>
        <dd className={turn.costUsd === null ? 't3' : undefined}>
          {turn.costUsd === null ? t('usage.unknown') : formatMoney(turn.costUsd, t.locale)}
        </dd>
      </div>
    </dl>
  );
}

/** Whether the provider's cache could give back what it had; nothing where that cannot be said. */
function Prefix({ turn: { prefix } }: { turn: RouteOutput<'turns.get'> }) {
  const t = useT();
  if (prefix === null || prefix === 'first' || prefix === 'unknown') return null;
  return (
    <dd className={prefix === 'broken' ? 'whole warn' : 'whole t3'}>{t(`activity.prefix.${prefix}`)}</dd>
  );
}

function Sent({ turn }: { turn: TurnDetail }) {
  const t = useT();
  return (
    <div className="stack4">
      {turn.sentBody !== null && turn.sentBody === turn.requestBody ? (
        <Note>{t('activity.unchanged')}</Note>
      ) : null}
      <Body text={turn.sentBody} />
    </div>
  );
}

function Answer({ turn }: { turn: TurnDetail }) {
  const t = useT();
  if (turn.replyText === '' && turn.replyBody === null) {
    return <Note>{turn.error ?? t('activity.noAnswer')}</Note>;
  }
  return (
    <div className="stack4">
      {turn.replyText === '' ? null : <div className="panel pad4 answer selectable">{turn.replyText}</div>}
      <Body text={turn.replyBody} />
    </div>
  );
}

/** JSON as it was recorded, indented for reading. */
function Body({ text }: { text: string | null }) {
  const t = useT();
  if (text === null) {
    return (
      <Note>
        <b>{t('activity.notRecorded')}.</b> {t('activity.notRecordedWhy')}
      </Note>
    );
  }
  return <pre className="pre selectable codebox">{indent(text)}</pre>;
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
