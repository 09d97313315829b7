import type { DoctorCheck } from '../shared/contract.ts';
import { createTranslator, matchLocale } from '../shared/i18n/index.ts';
import { describe, type Snapshot } from '../shared/status.ts';
import type { AgentBook } from './agents/index.ts';
import type { Bus } from './bus.ts';
import type { Learner } from './learning/index.ts';
import type { MemoryBook } from './memory/index.ts';
import type { ConfigFile } from './platform/config-file.ts';
import type { Ports } from './ports.ts';
import type { ProxyControl } from './proxy-control.ts';
import type { Handlers } from './router.ts';
import type { SessionLog } from './sessions/index.ts';
import type { SetupFlow } from './setup.ts';
import type { Sidecar } from './sidecar/index.ts';
import type { SkillBook } from './skills/index.ts';
import { endpoints } from './snapshot.ts';
import type { UndoLog } from './store/undo.ts';
import type { Upstream } from './upstream/index.ts';
import type { UsageLedger } from './usage/index.ts';

export interface HandlerDeps {
  ports: Pick<Ports, 'clock' | 'env' | 'secrets'>;
  bus: Bus;
  configFile: ConfigFile;
  undo: UndoLog;
  sessions: SessionLog;
  skills: SkillBook;
  agents: AgentBook;
  learner: Learner;
  memory: MemoryBook;
  upstream: Upstream;
  usage: UsageLedger;
  proxy: ProxyControl;
  sidecar: Sidecar;
  setup: SetupFlow;
  snapshot: () => Snapshot;
  runDoctor: () => Promise<DoctorCheck[]>;
  /** Starts the demo in the background; CONFLICT when one runs. */
  startDemo: () => void;
}

/** What each route does: a thin table over the features. */
export function createHandlers(deps: HandlerDeps): Handlers {
  const { bus, configFile, undo, sessions, skills, learner, memory, upstream, usage, proxy, setup } = deps;
  const t = createTranslator(
    matchLocale([deps.ports.env.LC_ALL, deps.ports.env.LC_MESSAGES, deps.ports.env.LANG]),
  );
  return {
    'app.snapshot': () => deps.snapshot(),
    'app.status': () => describe(deps.snapshot(), t, deps.ports.clock.now()),
    'proxy.start': () => proxy.start(),
    'proxy.stop': async () => {
      await proxy.stop();
      return null;
    },
    'proxy.bypass': ({ on }) => {
      configFile.set('bypass', on);
      return { on };
    },
    'proxy.endpoints': () => endpoints(proxy.state(), configFile.current),
    'turns.list': (input) => sessions.list(input),
    'turns.get': ({ id }) => {
      const turn = sessions.get(id);
      return {
        ...turn,
        costUsd: usage.costOfTurn(id),
        feedback: learner.feedbackOn(id),
        prefix: sessions.promptCache.prefixOf(turn),
      };
    },
    'turns.histogram': ({ day }) => sessions.histogram(day),
    'sessions.list': (input) => sessions.promptCache.sessions(input),
    'sessions.cache': ({ id }) => sessions.promptCache.report(id),
    'sessions.end': ({ id }) => {
      sessions.end(id, 'flag');
      return null;
    },
    'feedback.set': (input) => learner.giveFeedback(input),
    'skills.list': () => skills.list(),
    'skills.get': ({ name }) => skills.get(name),
    'skills.setEnabled': ({ name, enabled }) => skills.setEnabled(name, enabled),
    'skills.add': ({ content }) => skills.edits.add(content),
    'skills.edit': ({ name, content, base }) => skills.edits.edit(name, content, { base }),
    'skills.remove': ({ name }) => skills.edits.remove(name),
    'skills.lock': ({ name, locked }) => skills.edits.lock(name, locked),
    'skills.setScope': ({ name, ...scope }) => {
      skills.get(name);
      return skills.scopes.set(name, scope);
    },
    'skills.history': ({ name }) => skills.history.list(name),
    'skills.version': ({ name, version }) => ({ content: skills.edits.textOf(name, version) }),
    'skills.restore': ({ name, version }) => skills.edits.restore(name, version),
    'skills.import': ({ path }) => skills.edits.import(path),
    'skills.export': ({ names, to }) =>
      skills.edits.export(names.length > 0 ? names : skills.list().skills.map(({ name }) => name), to),
    'skills.check': ({ content, name }) => skills.edits.check(content, name),
    'skills.tryOn': ({ content, limit }) => skills.tryOn(content, sessions.lastAsked(limit)),
    'skills.bank': () => skills.bankUpdates(),
    'skills.takeFromBank': ({ name }) => skills.takeFromBank(name),
    'skills.keepMine': ({ name }) => {
      skills.keepMine(name);
      return null;
    },
    'skills.overlaps': () => skills.overlaps(),
    'skills.log': ({ limit }) => skills.history.log(limit),
    'skills.search': ({ text }) => skills.search(text),
    'memory.stats': () => memory.stats(),
    'memory.list': (input) => memory.list(input),
    'memory.facets': ({ text }) => memory.facets(text),
    'memory.scopes': () => memory.scopes(),
    'memory.search': (input) => memory.search(input),
    'memory.get': ({ id }) => memory.get(id),
    'memory.find': ({ prefix }) => memory.find(prefix),
    'memory.add': (input) => memory.add(input),
    'memory.edit': ({ id, ...change }) => memory.edit(id, change),
    'memory.pin': ({ ids, pinned }) => memory.pin(ids, pinned),
    'memory.forget': ({ ids, now }) => (now ? memory.purge(ids) : memory.forget(ids, false)),
    'memory.forgetSession': ({ sessionId, now }) => memory.forgetSession(sessionId, now),
    'memory.restore': ({ ids, all }) => memory.restore(all ? null : ids),
    'memory.merge': ({ ids, content }) => memory.merge(ids, content),
    'memory.conflicts': () => memory.conflicts(),
    'memory.settle': ({ id, keep }) => memory.settle(id, keep),
    'memory.consolidate': ({ dryRun }) => memory.consolidate(dryRun),
    'memory.import': (input) => memory.import(input),
    'memory.export': ({ to, format }) => memory.export(to, format),
    'memory.serve': (input) => deps.sidecar.serve(input),
    'memory.unserve': () => deps.sidecar.unserve(),
    'memory.sidecar': () => deps.sidecar.state(),
    'memory.eval': ({ cases }) => memory.tuning.evaluate(cases),
    'memory.adaptive': () => memory.tuning.adaptive.state(),
    'memory.adapt': async () => ({ what: await memory.tuning.adaptive.look() }),
    'memory.undoAdoption': ({ id }) => {
      memory.tuning.adaptive.undo(id);
      return null;
    },
    'memory.wipe': ({ scope, now }) => memory.wipe(scope, now),
    'proposals.list': ({ state }) => learner.list(state),
    'proposals.get': ({ id }) => learner.get(id),
    'proposals.accept': ({ id, ...options }) => learner.accept(id, options),
    'proposals.reject': ({ id, reason }) => learner.reject(id, reason),
    'agents.list': () => deps.agents.list(),
    'agents.plan': ({ id }) => deps.agents.plan(id),
    'agents.connect': ({ id, hash }) => deps.agents.connect(id, hash),
    'agents.disconnect': ({ id }) => deps.agents.disconnect(id),
    'agents.verify': ({ id, seconds }) => deps.agents.verify(id, seconds * 1000),
    'undo.apply': ({ token }) => {
      undo.apply(token);
      bus.emit('invalidate', 'skills');
      bus.emit('invalidate', 'proposals');
      bus.emit('invalidate', 'memory');
      return null;
    },
    'config.list': () => configFile.entries(),
    'config.get': ({ path }) => configFile.entry(path),
    'config.set': ({ path, value }) => configFile.set(path, value),
    'config.unset': ({ path }) => configFile.unset(path),
    'config.problems': () => configFile.problems(),
    'secrets.list': () => ({ names: deps.ports.secrets.names(), ...deps.ports.secrets.describe() }),
    'secrets.set': ({ name, value }) => {
      configFile.setSecret(name, value);
      return { isSet: true };
    },
    'secrets.clear': ({ name }) => {
      configFile.setSecret(name, null);
      return { isSet: false };
    },
    'usage.summary': (input) => usage.summary(input),
    'quirks.list': () => upstream.learnedQuirks(),
    'quirks.forget': ({ host, model }) => ({ forgotten: upstream.forgetQuirks(host ?? null, model ?? null) }),
    'setup.presets': () => upstream.presets(),
    'setup.detectLocal': () => upstream.detectLocal(),
    'setup.programs': () => upstream.programs(),
    'setup.testProvider': (input) => upstream.test(setup.withKey(input)),
    'setup.saveProvider': (input) => {
      setup.saveProvider(input);
      return null;
    },
    'setup.finish': (input) => {
      setup.finish(input);
      return null;
    },
    'setup.state': () => setup.state(),
    'doctor.run': () => deps.runDoctor(),
    'demo.start': () => {
      deps.startDemo();
      return null;
    },
    'host.quit': () => {
      bus.emit('quit');
      return null;
    },
  };
}
