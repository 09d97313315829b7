import { join } from 'node:path';
import { BrowserWindow, type Rectangle, screen, shell } from 'electron';
import { ORIGIN } from './page.ts';

export interface MainWindowDeps {
  preload: string;
  icon: string;
  bounds: { get(): Rectangle | null; set(bounds: Rectangle): void };
  /** Decides what a click on the window's close button does. The window stays until it is told otherwise. */
  onClose: () => void;
}

const SMALLEST = { width: 720, height: 480 };
const FIRST = { width: 1200, height: 800 };
/** Addresses that may open in the browser: only what our own screens link to. */
const OPENABLE = /^https:\/\/(?:[\w-]+\.)*(?:github\.com|agentskills\.io)\//;

/** The one window: made when it is first shown, hidden rather than destroyed. */
export class MainWindow {
  readonly #deps: MainWindowDeps;
  #window: BrowserWindow | null = null;
  #mayClose = false;

  constructor(deps: MainWindowDeps) {
    this.#deps = deps;
  }

  get window(): BrowserWindow | null {
    return this.#window;
  }

  /** Shows the window in front, at a place of it when one is given, such as `/skills`. */
  show(path?: string): void {
    const window = this.#window ?? this.#create(path);
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  }

  hide(): void {
    this.#window?.hide();
  }

  minimise(): void {
    this.#window?.minimize();
  }

  /** For the way out: the next close is real. */
  destroy(): void {
    this.#mayClose = true;
    this.#window?.destroy();
    this.#window = null;
  }

  #create(path: string | undefined): BrowserWindow {
    const window = new BrowserWindow({
      ...FIRST,
      ...visible(this.#deps.bounds.get()),
      minWidth: SMALLEST.width,
      minHeight: SMALLEST.height,
      show: false,
      title: 'MetaClaw',
      icon: this.#deps.icon,
      autoHideMenuBar: true,
      webPreferences: {
        preload: this.#deps.preload,
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        webviewTag: false,
        navigateOnDragDrop: false,
        spellcheck: false,
      },
    });
    this.#window = window;
    lock(window);
    const remember = () => {
      if (!window.isMinimized() && !window.isMaximized() && !window.isFullScreen()) {
        this.#deps.bounds.set(window.getNormalBounds());
      }
    };
    window.on('resized', remember);
    window.on('moved', remember);
    window.on('close', (event) => {
      remember();
      if (this.#mayClose) return;
      event.preventDefault();
      this.#deps.onClose();
    });
    window.on('closed', () => {
      this.#window = null;
    });
    void window.loadURL(`${ORIGIN}/index.html${path === undefined ? '' : `#${path}`}`);
    return window;
  }
}

/** Keeps the page where it is: no navigation, no second window, no permission, no web view. */
function lock(window: BrowserWindow): void {
  const { webContents } = window;
  const { session } = webContents;
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false));
  session.setPermissionCheckHandler(() => false);
  webContents.on('will-navigate', (event) => event.preventDefault());
  webContents.on('will-redirect', (event) => event.preventDefault());
  webContents.on('will-attach-webview', (event) => event.preventDefault());
  webContents.setWindowOpenHandler(({ url }) => {
    openExternal(url);
    return { action: 'deny' };
  });
}

/** Opens an address in the browser when it is one that our screens link to; true when it was. */
export function openExternal(url: string): boolean {
  if (!OPENABLE.test(url)) return false;
  void shell.openExternal(url);
  return true;
}

/** Remembered bounds, when enough of them is still on a screen. */
function visible(bounds: Rectangle | null): Partial<Rectangle> {
  if (bounds === null) return {};
  const size = {
    width: Math.max(bounds.width, SMALLEST.width),
    height: Math.max(bounds.height, SMALLEST.height),
  };
  const isOnScreen = screen.getAllDisplays().some(({ workArea }) => {
    const x = Math.min(bounds.x + size.width, workArea.x + workArea.width) - Math.max(bounds.x, workArea.x);
    const y = Math.min(bounds.y + 40, workArea.y + workArea.height) - Math.max(bounds.y, workArea.y);
    return x >= 120 && y >= 24;
  });
  return isOnScreen ? { ...size, x: bounds.x, y: bounds.y } : size;
}

/** Where the build puts the preload script. */
export function preloadPath(appPath: string): string {
  return join(appPath, 'out', 'preload', 'index.cjs');
}
