import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { app, clipboard, nativeTheme, session, type WebContents } from 'electron';
import { createEngine, type Engine } from '../engine/index.ts';
import type { Ports } from '../engine/ports.ts';
import { AppError, type ErrorJson, messageOf } from '../shared/errors.ts';
import type { HostState } from '../shared/host.ts';
import { createTranslator, matchLocale, type Translate } from '../shared/i18n/index.ts';
import { configFileOf, overridesOf } from './arguments.ts';
import { createIpc, type HostHandlers, type Ipc } from './ipc.ts';
import { setAppMenu } from './menu.ts';
import { ORIGIN, servePage } from './page.ts';
import { pickPath } from './pick-path.ts';
import { createPorts } from './ports.ts';
import { PreferenceStore } from './preferences.ts';
import { installTestHook } from './test-hook.ts';
import { AppTray } from './tray.ts';
import { hasTrayHost } from './tray-host.ts';
import type { TrayCommand } from './tray-menu.ts';
import { MainWindow, openExternal, preloadPath } from './window.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The tray application from its start to its ordered end; owns tray, window, IPC and engine. */
export class Host {
  readonly #env: Env;
  readonly #argv: readonly string[];
  readonly #exit: (code: number) => void;
  readonly #preferences: PreferenceStore;
  readonly #window: MainWindow;
  #ports: Ports | null = null;
  #engine: Engine | null = null;
  #opening: Promise<void> | null = null;
  #started: Promise<void> = Promise.resolve();
  #blocked: ErrorJson | null = null;
  #ipc: Ipc | null = null;
  #tray: AppTray | null = null;
  #t: Translate;
  #hasTray = true;
  #quitting: Promise<void> | null = null;
  #isReady = false;
  /** A second click on the close button while this holds means it. */
  #isAsking = false;

  constructor(deps: { env: Env; argv: readonly string[]; exit: (code: number) => void }) {
    this.#env = deps.env;
    this.#argv = deps.argv;
    this.#exit = deps.exit;
    this.#preferences = new PreferenceStore(app.getPath('userData'));
    this.#t = createTranslator('en');
    this.#window = new MainWindow({
      preload: preloadPath(app.getAppPath()),
      icon: join(app.getAppPath(), 'resources', 'icon.png'),
      bounds: {
        get: () => this.#preferences.get('bounds'),
        set: (bounds) => this.#preferences.set('bounds', bounds),
      },
      onClose: () => void this.#onClose(),
    });
  }

  /** True once everything is closed and the process may end. */
  isDone = false;

  /** Opens the engine, then tray and window. Rejects never: what fails is shown in the window. */
  async start(): Promise<void> {
    this.#applyPreferences();
    servePage(session.defaultSession, join(app.getAppPath(), 'out', 'renderer'));
    const tray = hasTrayHost(process.platform, this.#env);
    await this.#open();
    this.#hasTray = await tray;
    this.#ipc = createIpc({
      host: this.#handlers(),
      contents: () => this.#contents(),
      origin: ORIGIN,
      report: tell,
    });
    this.#isReady = true;
    this.#connect();
    await Promise.race([this.#started, sleep(WINDOW_WAITS_MS)]);
    // Hidden only where it can be found again.
    const isHidden = this.#argv.includes('--hidden') && this.#hasTray && this.#blocked === null;
    if (!isHidden) this.show();
    if (this.#env.METACLAW_E2E === '1') {
      installTestHook({
        tray: () => this.#tray,
        run: (id) => this.#run(id),
        hasTray: () => this.#hasTray,
        window: this.#window,
      });
    }
  }

  /** Brings the window to the front, at a place of it when one is given. */
  show(path?: string): void {
    if (!this.#isReady) return;
    const isOpen = this.#window.window !== null;
    this.#window.show(path);
    if (isOpen && path !== undefined) this.#ipc?.send('navigate', { path });
  }

  /** Ends in order: window, tray, then the engine (which drains running turns), then the process. */
  quit(): Promise<void> {
    this.#quitting ??= this.#close();
    return this.#quitting;
  }

  async #close(): Promise<void> {
    this.#window.destroy();
    this.#ipc?.dispose();
    this.#tray?.destroy();
    try {
      // One that is still being opened would leave its lock behind.
      await this.#opening;
      await this.#engine?.stop();
    } catch (error) {
      tell(error);
    }
    this.isDone = true;
    this.#exit(0);
  }

  /** Opens the engine unless there is one, and starts the proxy. Rejects never: why there is none is in the state. */
  #open(): Promise<void> {
    this.#opening ??= this.#openEngine().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openEngine(): Promise<void> {
    if (this.#engine !== null) return;
    try {
      this.#ports = createPorts({
        env: this.#env,
        appPath: app.getAppPath(),
        version: app.getVersion(),
        overrides: overridesOf(this.#argv),
        configFile: configFileOf(this.#argv),
      });
      this.#engine = await createEngine(this.#ports);
      this.#blocked = null;
      // Agents first: the proxy answers before the window takes the processor. A port that is taken is in the
      // snapshot, with who holds it; the rest of the engine works.
      this.#started = this.#engine.start().catch(() => {});
    } catch (error) {
      this.#blocked =
        error instanceof AppError ? error.toJSON() : { code: 'INTERNAL', message: messageOf(error) };
    }
  }

  /** What nobody caught: the engine notes it and goes on; without one the terminal is told. */
  mishap(error: unknown): void {
    if (this.#engine) this.#engine.mishap(error);
    else tell(error);
  }

  /** Puts the engine behind window and tray, once. */
  #connect(): void {
    const engine = this.#engine;
    if (engine === null || this.#tray !== null) return;
    this.#ipc?.connect(engine);
    this.#tray = new AppTray({
      icons: join(app.getAppPath(), 'resources', 'tray'),
      env: this.#env,
      run: (id) => this.#run(id),
      hasProxyKey: () => this.#proxyKey() !== null,
      snapshot: engine.snapshot(),
      t: this.#t,
    });
    engine.bus.on('snapshot', (snapshot) => this.#tray?.update(snapshot, this.#t));
    engine.bus.on('quit', () => void this.quit());
  }

  #proxyKey(): string | null {
    try {
      return this.#ports?.secrets.get('proxy.api_key') ?? null;
    } catch {
      return null;
    }
  }

  /** Theme before the first paint, language for menu and tray. */
  #applyPreferences(): void {
    nativeTheme.themeSource = this.#preferences.get('theme');
    const language = this.#preferences.get('language');
    const { LC_ALL, LC_MESSAGES, LANG } = this.#env;
    const locale =
      language === 'system' ? matchLocale([LC_ALL || LC_MESSAGES || LANG, app.getLocale()]) : language;
    if (locale !== this.#t.locale) this.#t = createTranslator(locale);
    setAppMenu({
      t: this.#t,
      platform: process.platform,
      go: (path) => this.show(path),
      quit: () => void this.quit(),
      close: () => this.#window.window?.close(),
    });
    const engine = this.#engine;
    if (engine !== null) this.#tray?.update(engine.snapshot(), this.#t);
  }

  #state(): HostState {
    return {
      version: app.getVersion(),
      platform: process.platform,
      theme: this.#preferences.get('theme'),
      language: this.#preferences.get('language'),
      locale: this.#t.locale,
      tray: this.#hasTray,
      secrets: this.#ports?.secrets.describe() ?? { kind: 'file', detail: '' },
      blocked: this.#blocked,
    };
  }

  #handlers(): HostHandlers {
    return {
      'host.state': () => this.#state(),
      'host.setTheme': ({ theme }) => {
        this.#preferences.set('theme', theme);
        this.#applyPreferences();
        return this.#state();
      },
      'host.setLanguage': ({ language }) => {
        this.#preferences.set('language', language);
        this.#applyPreferences();
        return this.#state();
      },
      'host.copy': ({ text }) => {
        clipboard.writeText(text);
        return null;
      },
      'host.openExternal': ({ url }) => {
        if (!openExternal(url)) throw new AppError('FORBIDDEN', 'This address is not opened from here.');
        return null;
      },
      'host.pickPath': async (wish) => ({ path: await pickPath(this.#window.window, wish) }),
      'host.closeAnswer': ({ answer }) => {
        this.#isAsking = false;
        if (answer === 'quit') void this.quit();
        if (answer === 'minimise') this.#window.minimise();
        if (answer === 'hide') {
          this.#preferences.set('hideExplained', true);
          this.#window.hide();
        }
        return null;
      },
      'host.retry': async () => {
        await this.#open();
        this.#connect();
        return this.#state();
      },
      'host.quit': () => {
        // After the answer has gone out.
        setImmediate(() => void this.quit());
        return null;
      },
    };
  }

  /**
   * The close button. With a tray the window hides, which is explained once. Without one a hidden window could not
   * be found again: it asks whether to quit or to minimise. A page that does not answer cannot keep the user here.
   */
  async #onClose(): Promise<void> {
    if (this.#blocked !== null) return this.quit();
    const wasAsked = this.#isAsking;
    this.#hasTray = await hasTrayHost(process.platform, this.#env);
    if (this.#hasTray) {
      if (this.#preferences.get('hideExplained')) return this.#window.hide();
      if (wasAsked) {
        this.#preferences.set('hideExplained', true);
        return this.#window.hide();
      }
    } else if (wasAsked) {
      return this.quit();
    }
    this.#isAsking = true;
    setTimeout(() => {
      this.#isAsking = false;
    }, ASKING_MS);
    this.#ipc?.send('closing', { reason: this.#hasTray ? 'first-hide' : 'no-tray' });
  }

  #contents(): WebContents | null {
    return this.#window.window?.webContents ?? null;
  }

  /** Runs what was chosen in the tray's menu. */
  #run(id: TrayCommand): void {
    this.#perform(id).catch((error: unknown) => {
      // What failed shows in the snapshot and in the window.
      tell(error);
      this.show();
    });
  }

  async #perform(id: TrayCommand): Promise<void> {
    const engine = this.#engine;
    if (engine === null) return;
    const copy = async (which: 'openai' | 'anthropic' | 'curl') =>
      clipboard.writeText((await engine.call('proxy.endpoints', {}))[which]);
    switch (id) {
      case 'start':
        await engine.call('proxy.start', {});
        return;
      case 'stop':
        await engine.call('proxy.stop', {});
        return;
      case 'bypass':
        await engine.call('proxy.bypass', { on: !engine.snapshot().bypass });
        return;
      case 'copy-openai':
        return copy('openai');
      case 'copy-anthropic':
        return copy('anthropic');
      case 'copy-curl':
        return copy('curl');
      case 'copy-key':
        clipboard.writeText(this.#proxyKey() ?? '');
        return;
      case 'demo':
        this.show('/');
        await engine.call('demo.start', {});
        return;
      case 'quit':
        return this.quit();
      default:
        return this.show(PLACES[id]);
    }
  }
}

/** How long a question waits for its answer before the next click on the close button asks again. */
const ASKING_MS = 3000;

/** The window comes after the proxy answers, but no later than this. */
const WINDOW_WAITS_MS = 1000;

/** Where the menu's ways into the window lead; undefined shows it as it is. */
const PLACES = {
  status: '/',
  review: '/skills/proposals',
  setup: '/setup',
  open: undefined,
  skills: '/skills',
  memories: '/memories',
  activity: '/activity',
  settings: '/settings',
} as const;

/** Told to the terminal that it was started from, if there is one. */
function tell(error: unknown): void {
  process.stderr.write(`metaclaw: ${messageOf(error)}\n`);
}
