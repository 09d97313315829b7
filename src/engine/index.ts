import { basename, join } from 'node:path';
import type { Config } from '../shared/config.ts';
import { effectiveMode } from '../shared/config-rules.ts';
import type { Call, RouteInput, RouteName, RouteOutput } from '../shared/contract.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Snapshot } from '../shared/status.ts';
import { AgentBook } from './agents/index.ts';
import { Bus } from './bus.ts';
import { createComposer, tellMemories } from './composer.ts';
import { type ControlServer, startControl } from './control.ts';
import { runDemo } from './demo/index.ts';
import { runDoctor } from './doctor.ts';
import { createHandlers } from './handlers.ts';
import { withoutMemories } from './inject/index.ts';
import { Learner } from './learning/index.ts';
import { MemoryBook } from './memory/index.ts';
import { systemClock } from './platform/clock.ts';
import { withFix } from './platform/config-entry.ts';
import { ConfigFile } from './platform/config-file.ts';
import { acquireHost, type HostLock } from './platform/lock.ts';
import { createLog, type Log, type Logger, type LogLevel } from './platform/logger.ts';
import { resolveConfigPath, type StatePaths, stateHome, statePaths } from './platform/paths.ts';
import { redact } from './platform/redact.ts';
import { FileSecretStore } from './platform/secrets.ts';
import type { Ports } from './ports.ts';
import { ProxyServer } from './proxy/index.ts';
import { controlProxy } from './proxy-control.ts';
import { createDispatch, type Dispatch } from './router.ts';
import { SessionLog } from './sessions/index.ts';
import { SetupFlow } from './setup.ts';
import { Sidecar } from './sidecar/index.ts';
import { SkillBook } from './skills/index.ts';
import { endpoints, SnapshotFeed } from './snapshot.ts';
import { type Database, openDatabase } from './store/database.ts';
import { UndoLog } from './store/undo.ts';
import { type ProviderInput, Upstream } from './upstream/index.ts';
import { UsageLedger } from './usage/index.ts';

/** The whole product without a screen; hosts build ports and call `createEngine`. */
export interface Engine {
  readonly bus: Bus;
  /** The one door for screens, CLI and tests. */
  readonly call: Call;
  /** The same door for input that came over a wire. */
  readonly dispatch: Dispatch;
  snapshot(): Snapshot;
  /**
   * Starts learning, the control port and the proxy; a brief engine only reads its library, one for memory alone has no
   * proxy. Rejects with PORT_IN_USE and the like when the proxy cannot listen; the engine stays usable then and its
   * snapshot says why.
   */
  start(): Promise<void>;
  /**
   * What nobody caught, from the host's last-resort handlers: logged and shown as a warning, and the proxy goes on.
   * Ending the process would take every agent's answers with it.
   */
  mishap(error: unknown): void;
  /** Drains running turns (at most 5 s), closes everything and gives up the state folder. */
  stop(): Promise<void>;
}

/**
 * Takes the state folder (rejects with ALREADY_RUNNING when another host owns it), loads the configuration and opens
 * the store. Nothing listens until `start`.
 */
export async function createEngine(ports: Ports): Promise<Engine> {
  const paths = statePaths(ports.home, ports.configFile);
  const lock = await acquireHost(ports.home, ports.host, ports.version, { brief: ports.brief ?? false });
  try {
    return build(ports, paths, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function build(ports: Ports, paths: StatePaths, lock: HostLock): Engine {
  const bus = new Bus();
  const log = openLog(ports, paths);
  const configFile = new ConfigFile({
    path: paths.config,
    lastGood: paths.lastGoodConfig,
    secrets: ports.secrets,
    env: ports.env,
    overrides: ports.overrides,
    log: log.logger.child({ name: 'config' }),
  });
  configFile.load();
  log.setLevel(wantedLevel(ports.env) ?? configFile.current.log.level);
  const config = () => configFile.current;
  const { database, trouble: storeTrouble } = openStore(paths, log.logger);
  const { clock } = ports;
  const undo = new UndoLog({ database, clock });
  const named = (name: string) => log.logger.child({ name });

  const sessions = new SessionLog({ database, clock, log: named('sessions'), bus, config });
  const feed: SnapshotFeed = new SnapshotFeed({ bus, clock, build: () => snapshot() });
  const usage = new UsageLedger({
    database,
    clock,
    log: named('usage'),
    config,
    backgroundModel: () => upstream.backgroundModel(),
    onRecorded: () => bus.emit('invalidate', 'usage'),
  });
  const upstream: Upstream = new Upstream({
    config,
    clock,
    log: named('upstream'),
    database,
    env: ports.env,
    programsFolder: join(ports.home, 'programs'),
    onTrouble: () => feed.touch(),
    meter: usage,
  });
  const embeddings = upstream.embeddings(named('embeddings'), database);
  const skillsDir = resolveConfigPath(ports.home, config().skills.dir);
  const skillRoots = () => config().skills.roots.map((root) => resolveConfigPath(ports.home, root));
  const skills = new SkillBook({
    dir: skillsDir,
    roots: skillRoots(),
    bank: ports.skillsBank,
    trash: join(ports.home, 'trash', 'skills'),
    database,
    clock,
    log: named('skills'),
    bus,
    undo,
    config,
    embedder: embeddings,
  });
  const learner = new Learner({
    database,
    clock,
    log: named('learning'),
    bus,
    undo,
    config,
    skills: skills.forLearning,
    turnsOf: (sessionId) => sessions.turnsOf(sessionId),
    chatModel: () => upstream.chatModel('evolver'),
    heldUntil: () => usage.heldUntil(),
    outcomesChanged: () => skills.outcomesChanged(),
    historyFile: join(skillsDir, 'evolution_history.jsonl'),
  });
  const memory = new MemoryBook({
    database,
    clock,
    log: named('memory'),
    bus,
    undo,
    config,
    chatModel: () => upstream.chatModel('extractor'),
    heldUntil: () => usage.heldUntil(),
    embedder: embeddings,
  });
  const server = new ProxyServer({
    config,
    clock,
    log: named('proxy'),
    database,
    sessions,
    upstream,
    feedback: (input) => learner.giveFeedback(input),
    memory: memory.api,
    compose: createComposer({
      config: () => memory.tuning.config(),
      embedder: embeddings,
      skills,
      memory: memory.forTurns,
    }),
    version: ports.version,
    onActivity: () => feed.touch(),
    onAgent: (agent) => agents.heard(agent),
  });
  const sidecar = new Sidecar({
    memory: memory.api,
    retrieve: async (asker, text) =>
      tellMemories(await memory.api.recall(asker, text), memory.tuning.config().memory),
    config,
    clock,
    log: named('sidecar'),
    touch: () => feed.touch(),
  });
  const proxy = controlProxy({
    server,
    port: () => config().proxy.port,
    clock,
    lock,
    touch: () => feed.touch(),
  });

  const agents: AgentBook = new AgentBook({
    database,
    clock,
    log: named('agents'),
    bus,
    env: ports.env,
    config,
    backups: join(ports.home, 'backups', 'agents'),
    base: () => endpoints(proxy.state(), config()).anthropic,
    lastSession: (agent) => sessions.lastSeen(agent),
  });

  let mishaps = 0;
  const snapshot = (): Snapshot => {
    const now = config();
    const mode = effectiveMode(now);
    const failures: string[] = [];
    /** A store that fails later must not take the status away, which is what would tell of it. */
    const read = <T>(get: () => T, otherwise: T): T => {
      try {
        return get();
      } catch (error) {
        failures.push(`The database fails: ${messageOf(error)}. Agents get answers. Run metaclaw doctor.`);
        return otherwise;
      }
    };
    const learning = read(() => learner.status(), NO_LEARNING);
    const today = read(() => sessions.today(), NO_TURNS);
    const remembering = read(() => memory.conversations.status(), { pending: 0, lastError: null });
    const cap = read(() => usage.cap(), null);
    const problems = configFile.problems();
    return {
      version: ports.version,
      host: ports.host,
      pid: process.pid,
      proxy: proxy.state(),
      mode: now.mode,
      effectiveMode: mode.mode,
      modeReason: mode.reason,
      bypass: now.bypass,
      privateMode: now.private,
      provider: describeProvider(upstream),
      today,
      activeTurns: server.activeTurns(),
      waiting: { proposals: learning.waiting },
      learning: {
        enabled: learning.enabled,
        queued: learning.queued,
        running: learning.running,
        lastError: learning.lastError,
      },
      memory: { enabled: now.memory.enabled, ...remembering },
      usage: { cap },
      // The config and the proxy may both tell of the same thing.
      warnings: [
        ...new Set([
          ...upstream.detours(),
          ...(mishaps === 0
            ? []
            : [`Something unexpected happened (${mishaps}×); agents get answers. The log has the details.`]),
          ...(storeTrouble === null ? [] : [storeTrouble]),
          ...failures,
          ...unrecorded(sessions),
          ...sidecar.warnings(),
          ...problems.map((problem) =>
            problem.line === null ? withFix(problem) : `${basename(paths.config)}, ${withFix(problem)}`,
          ),
          ...proxy.warnings().filter((warning) => !problems.some(({ message }) => message === warning)),
        ]),
      ],
    };
  };

  const setup = new SetupFlow({
    configFile,
    secrets: ports.secrets,
    database,
    providerSet: () => describeProvider(upstream).configured,
    hasTurns: () => sessions.list({ limit: 1 }).turns.length > 0,
  });
  const demo = createDemo({ ports, bus, log: named('demo') });
  const handlers = createHandlers({
    ports,
    bus,
    configFile,
    undo,
    sessions,
    agents,
    skills,
    learner,
    memory,
    upstream,
    usage,
    proxy,
    sidecar,
    setup,
    snapshot,
    runDoctor: () =>
      runDoctor({
        paths,
        config,
        problems: () => configFile.problems(),
        plainSecrets: () => configFile.plainSecrets(),
        secrets: ports.secrets,
        databaseTrouble: () => storeTrouble,
        proxy: () => proxy.state(),
        providerConfigured: () => describeProvider(upstream).configured,
        testProvider: () => upstream.test(currentProvider(config())),
        cap: () => usage.cap(),
        clock,
      }),
    startDemo: demo,
  });
  const dispatch = createDispatch(handlers, named('calls'));
  const call: Call = <R extends RouteName>(route: R, input: RouteInput<R>) =>
    // The router parsed the input and ran the handler of this very route.
    dispatch(route, input, 'internal') as Promise<RouteOutput<R>>;

  const disposers: (() => unknown)[] = [
    sessions.onEnded((end) => learner.sessionEnded(end)),
    sessions.onRecorded(({ turnId, sessionId, turns, skills: names, withheld, memories }) => {
      memory.forTurns.noteUse(turnId, memories);
      skills.recordUse(turnId, names);
      skills.recordTrials({ turnId, sessionId }, names, withheld);
      learner.turnRecorded(sessionId, turns);
    }),
    bus.on('invalidate', () => feed.touch()),
    sessions.onRecorded((turn) => memory.conversations.turnRecorded(turn)),
    sessions.onSideRecorded((turn) => memory.conversations.sideTurnRecorded(turn)),
    sessions.onEnded(({ sessionId }) => memory.conversations.sessionEnded(sessionId)),
    memory.onDropped(({ keys }) => {
      const ids = new Set(keys);
      sessions.changeInjections((injection) => withoutMemories(injection, ids));
    }),
    configFile.onChange((now) => {
      log.setLevel(wantedLevel(ports.env) ?? now.log.level);
      learner.wake();
      void skills.followRoots(skillRoots());
      memory.conversations.wake();
      embeddings.configure();
      bus.emit('invalidate', 'config');
      void sidecar.follow();
    }),
  ];
  let control: ControlServer | null = null;
  let stopped = false;
  const mishap = (error: unknown) => {
    mishaps += 1;
    log.logger.error({ err: error }, 'something unexpected was thrown; the proxy goes on');
    feed.touch();
  };
  const attempt = async (step: () => unknown) => {
    try {
      await step();
    } catch (error) {
      mishap(error);
    }
  };

  return {
    bus,
    call,
    dispatch,
    snapshot,
    async start() {
      if (ports.brief) {
        await skills.start();
        // A command that looks at the library must see all of it.
        await skills.loaded();
        return;
      }
      // Whatever of ours cannot start, the agents get their proxy.
      await attempt(() => disposers.push(configFile.watch(clock)));
      if (!ports.memoryOnly) {
        await attempt(() => skills.start());
        await attempt(() => learner.start());
      }
      await attempt(() => memory.start());
      if (!ports.memoryOnly) {
        await attempt(() => sidecar.follow());
        await attempt(() => sessions.start());
      }
      await attempt(() => embeddings.start());
      await attempt(async () => {
        const { home, version } = ports;
        control = await startControl({ home, dispatch, bus, log: named('control'), version });
        lock.update({ controlPort: control.port });
      });
      if (!ports.memoryOnly) await proxy.start();
    },
    mishap,
    async stop() {
      if (stopped) return;
      stopped = true;
      feed.stop();
      await proxy
        .stop()
        .catch((error: unknown) => log.logger.warn({ err: error }, 'the proxy did not stop cleanly'));
      await sidecar.stop();
      await (control as ControlServer | null)?.stop();
      await learner.stop();
      await memory.stop();
      sessions.stop();
      await skills.stop();
      for (const dispose of disposers.reverse()) await dispose();
      await embeddings.stop();
      await upstream.close();
      database.close();
      lock.release();
      log.logger.info('stopped');
      await log.close();
    },
  };
}

const NO_TURNS: Snapshot['today'] = { turns: 0, sessions: 0, addedTokens: 0, skillsPerTurn: 0 };
const NO_LEARNING: ReturnType<Learner['status']> = {
  enabled: false,
  reason: null,
  queued: 0,
  running: 0,
  lastError: null,
  waiting: 0,
};

function wantedLevel({ METACLAW_LOG: wanted }: Ports['env']): LogLevel | undefined {
  return (['debug', 'info', 'warn', 'error'] as const).find((level) => level === wanted);
}

function openLog(ports: Ports, paths: StatePaths): Log {
  return createLog({
    dir: paths.logs,
    level: wantedLevel(ports.env) ?? 'info',
    redact: (text) => redact(text).text,
    stderr: ports.logToStderr ? (line) => process.stderr.write(`${line}\n`) : null,
  });
}

/** The proxy must answer even when its store cannot be used: it then runs on a store in memory, and says so. */
function openStore(paths: StatePaths, log: Logger): { database: Database; trouble: string | null } {
  const onSlow = (sql: string, ms: number) => log.warn({ sql, ms: Math.round(ms) }, 'slow query');
  try {
    const { database, setAside } = openDatabase(paths.database, { onSlow });
    if (setAside === null) return { database, trouble: null };
    log.error({ setAside }, 'the database was damaged and was set aside');
    return {
      database,
      trouble: `The database was damaged and was set aside as ${setAside}; a new one was begun.`,
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'STORE_UNREADABLE') throw error;
    log.error({ err: error }, 'the database cannot be opened; nothing is kept');
    return {
      database: openDatabase(':memory:', { onSlow }).database,
      trouble: `${error.message} Agents get answers, but nothing is kept until this is mended.`,
    };
  }
}

function describeProvider(upstream: Upstream): Snapshot['provider'] {
  const lastError = upstream.trouble();
  try {
    const route = upstream.resolve('', '');
    const baseUrl = route.program === null ? route.baseUrl : '';
    return { configured: true, name: route.name, model: route.model, baseUrl, lastError };
  } catch {
    return { configured: false, name: '', model: '', baseUrl: '', lastError };
  }
}

/** The ports that every host has in common: state folder, config file, the real clock, secrets in a private file. */
export function systemPorts(
  env: Readonly<Record<string, string | undefined>>,
  configFile?: string,
): Pick<Ports, 'home' | 'configFile' | 'clock' | 'secrets'> {
  const home = stateHome(env);
  const paths = statePaths(home, configFile);
  return {
    home,
    configFile: paths.config,
    clock: systemClock(),
    secrets: new FileSecretStore(paths.secrets),
  };
}

function unrecorded(sessions: SessionLog): string[] {
  const trouble = sessions.trouble();
  if (trouble === null) return [];
  return [
    `${trouble.turns === 1 ? 'A turn was' : `${trouble.turns} turns were`} answered but could not be recorded: ${trouble.message}. Check that the disk is not full and that the state folder is writable.`,
  ];
}

function currentProvider({ llm }: Config): ProviderInput {
  return { provider: llm.provider, baseUrl: llm.api_base, model: llm.model_id, wire: llm.wire };
}

/** One demo at a time; its progress goes to the screens as events. */
function createDemo(deps: { ports: Ports; bus: Bus; log: Logger }): () => void {
  const { skillsBank, version, clock } = deps.ports;
  let running = false;
  return () => {
    if (running) throw new AppError('CONFLICT', 'The demo is running already.');
    running = true;
    runDemo({ createEngine, skillsBank, version, clock, onEvent: (event) => deps.bus.emit('demo', event) })
      .catch((error: unknown) => deps.log.warn({ err: error }, 'the demo failed'))
      .finally(() => {
        running = false;
      });
  };
}
