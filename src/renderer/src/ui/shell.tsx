import { Activity, Coins, Copy, House, Layers, NotebookText, Search, SlidersHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { formatNumber } from '../../../shared/format.ts';
import { useCommand, useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { Brand, Glyph } from './glyph.tsx';
import { proxyAddress, useCopy, useSnapshot, useStatus } from './hooks.ts';
import { IconButton, Switch } from './primitives.tsx';

/** Sidebar and header around a screen. */
export function Shell({ title, children }: { title: string; children: ReactNode }) {
  const t = useT();
  return (
    <div className="app">
      <button type="button" className="btn skip" onClick={() => document.getElementById('content')?.focus()}>
        {t('common.skipToContent')}
      </button>
      <Sidebar />
      <main className="main" id="content" tabIndex={-1}>
        <Header title={title} />
        {children}
      </main>
    </div>
  );
}

function Sidebar() {
  const t = useT();
  const { waiting } = useSnapshot();
  const memories = useRoute('memory.stats', {});
  return (
    <nav className="side" aria-label={t('nav.main')}>
      <div className="brand">
        <Brand />
        <span>MetaClaw</span>
      </div>
      <div className="nav">
        <NavLink path="/" label={t('nav.overview')} icon={<House aria-hidden="true" />} />
        <NavLink path="/activity" label={t('nav.activity')} icon={<Activity aria-hidden="true" />} />
        <NavLink path="/usage" label={t('nav.usage')} icon={<Coins aria-hidden="true" />} />
      </div>
      <div className="nav">
        <div className="label">{t('nav.library')}</div>
        <NavLink
          path="/skills"
          label={t('nav.skills')}
          icon={<Layers aria-hidden="true" />}
          todo={waiting.proposals}
        />
        <NavLink
          path="/memories"
          label={t('nav.memories')}
          icon={<NotebookText aria-hidden="true" />}
          count={memories.data?.units}
        />
      </div>
      <div className="nav">
        <div className="label">{t('nav.system')}</div>
        <NavLink path="/settings" label={t('nav.settings')} icon={<SlidersHorizontal aria-hidden="true" />} />
      </div>
      <ProxyFoot />
    </nav>
  );
}

function NavLink(props: { path: string; label: string; icon: ReactNode; todo?: number; count?: number }) {
  const t = useT();
  const [location] = useLocation();
  const isHere = props.path === '/' ? location === '/' : location.startsWith(props.path);
  const todo = props.todo ?? 0;
  return (
    <Link href={props.path} aria-current={isHere ? 'page' : undefined} title={props.label}>
      {props.icon}
      <span>{props.label}</span>
      {props.count === undefined || props.count === 0 ? null : (
        <span className="count" aria-hidden="true">
          {formatNumber(props.count, t.locale)}
        </span>
      )}
      {todo === 0 ? null : (
        <>
          <span className="todo" aria-hidden="true">
            {todo}
          </span>
          <span className="sr">{t('nav.waiting', { count: todo })}</span>
        </>
      )}
    </Link>
  );
}

function ProxyFoot() {
  const t = useT();
  const snapshot = useSnapshot();
  const copy = useCopy();
  const start = useCommand('proxy.start');
  const stop = useCommand('proxy.stop');
  const endpoints = useRoute('proxy.endpoints', {});
  const { state } = snapshot.proxy;
  const words = {
    running: t('nav.proxyRunning'),
    starting: t('nav.proxyStarting'),
    stopped: t('nav.proxyStopped'),
    failed: t('nav.proxyFailed'),
  };
  const address = proxyAddress(snapshot);
  const change = (on: boolean) => (on ? start : stop).mutate({});
  return (
    <div className="foot">
      <div className="flex">
        <span className="med grow wide">{words[state]}</span>
        <Switch
          label={t('nav.proxySwitch')}
          checked={state === 'running' || state === 'starting'}
          disabled={start.isPending || stop.isPending}
          onChange={change}
        />
      </div>
      {address === null ? null : (
        <div className="flex wide t3">
          <span className="mono grow address selectable">{address}</span>
          <IconButton
            small
            label={t('nav.copyBase')}
            onClick={() => copy(endpoints.data?.openai ?? `http://${address}/v1`)}
          >
            <Copy className="s" aria-hidden="true" />
          </IconButton>
        </div>
      )}
    </div>
  );
}

const PILL = {
  ready: '',
  working: 'learning',
  learning: 'learning',
  attention: 'attention',
  error: 'error',
  paused: 'off',
  stopped: 'off',
  starting: 'off',
} as const;

function Header({ title }: { title: string }) {
  const t = useT();
  const status = useStatus();
  const host = useUi((state) => state.host);
  const setPaletteOpen = useUi((state) => state.setPaletteOpen);
  return (
    <header className="head">
      <h1>{title}</h1>
      <span className="grow" />
      <span className={`status ${PILL[status.level]}`} role="status" title={status.detail ?? status.sentence}>
        <Glyph level={status.level} />
        <span>{status.sentence}</span>
      </span>
      <button
        type="button"
        className="find"
        aria-label={t('nav.search')}
        onClick={() => setPaletteOpen(true)}
      >
        <Search className="s" aria-hidden="true" />
        <span>{t('nav.search')}</span>
        <span className="kbd">{host?.platform === 'darwin' ? '⌘ K' : 'Ctrl K'}</span>
      </button>
    </header>
  );
}
