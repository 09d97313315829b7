import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { call, callHost, followInvalidations, onEvent, onHostEvent, useRoute } from './api.ts';
import { LanguageProvider } from './i18n.tsx';
import { Activity } from './screens/activity.tsx';
import { Blocked } from './screens/blocked.tsx';
import { ClosingDialog } from './screens/closing.tsx';
import { Memories } from './screens/memories/index.tsx';
import { Overview } from './screens/overview/index.tsx';
import { Settings } from './screens/settings/index.tsx';
import { Setup } from './screens/setup/index.tsx';
import { Skills } from './screens/skills.tsx';
import { Usage } from './screens/usage/index.tsx';
import { useUi } from './state.ts';
import { Failure } from './ui/failure.tsx';
import { Toasts } from './ui/feedback.tsx';
import { setupWasSkipped } from './ui/first-run.ts';
import { Palette } from './ui/palette.tsx';

/** The whole window: waits for the host, then shows the wizard, the screens, or why there is no engine. */
export function App() {
  const host = useUi((state) => state.host);
  useHostState();
  if (host === null) return null;
  return (
    <LanguageProvider locale={host.locale}>
      <Failure>{host.blocked === null ? <Connected /> : <Blocked error={host.blocked} />}</Failure>
      <ClosingDialog />
    </LanguageProvider>
  );
}

function Connected() {
  const snapshot = useUi((state) => state.snapshot);
  useEngineEvents();
  if (snapshot === null) return null;
  return (
    <>
      <Screens />
      <Palette />
      <Toasts />
    </>
  );
}

function Screens() {
  const [path] = useLocation();
  const firstRun = useFirstRun();
  if (firstRun === 'unknown') return null;
  if (firstRun === 'wizard' && !path.startsWith('/setup')) return <Redirect to="/setup" />;
  return (
    <Failure key={path.split('/')[1]}>
      <Switch>
        <Route path="/setup/:step?" component={Setup} />
        <Route path="/activity/:id?" component={Activity} />
        <Route path="/skills/*?" component={Skills} />
        <Route path="/memories/*?" component={Memories} />
        <Route path="/usage" component={Usage} />
        <Route path="/settings" component={Settings} />
        <Route component={Overview} />
      </Switch>
    </Failure>
  );
}

/** The wizard opens by itself once, as long as there is no provider. Decided when the window opens. */
function useFirstRun(): 'unknown' | 'wizard' | 'no' {
  const setup = useRoute('setup.state', {});
  const [decided, setDecided] = useState<'wizard' | 'no' | null>(null);
  const [path] = useLocation();
  const skipped = setupWasSkipped();
  useEffect(() => {
    if (decided === null && (setup.data !== undefined || setup.isError)) {
      const needed = setup.data !== undefined && !setup.data.done && !setup.data.providerSet;
      setDecided(needed && !skipped ? 'wizard' : 'no');
    } else if (decided === 'wizard' && path.startsWith('/setup')) {
      setDecided('no');
    }
  }, [decided, path, setup.data, setup.isError, skipped]);
  return decided ?? 'unknown';
}

function useHostState(): void {
  const setHost = useUi((state) => state.setHost);
  const setClosing = useUi((state) => state.setClosing);
  const [, navigate] = useLocation();
  useEffect(() => {
    void callHost('host.state', {}).then(setHost);
    const disposers = [
      onHostEvent('host', setHost),
      onHostEvent('closing', ({ reason }) => setClosing(reason)),
      onHostEvent('navigate', ({ path }) => navigate(path)),
    ];
    return () => {
      for (const dispose of disposers) dispose();
    };
  }, [navigate, setClosing, setHost]);
}

function useEngineEvents(): void {
  const client = useQueryClient();
  const setSnapshot = useUi((state) => state.setSnapshot);
  const addDemo = useUi((state) => state.addDemo);
  useEffect(() => {
    const disposers = [
      onEvent('snapshot', setSnapshot),
      onEvent('demo', addDemo),
      followInvalidations(client),
    ];
    void call('app.snapshot', {}).then(setSnapshot);
    return () => {
      for (const dispose of disposers) dispose();
    };
  }, [addDemo, client, setSnapshot]);
}
