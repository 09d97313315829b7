import { join } from 'node:path';
import { app } from 'electron';
import { systemPorts } from '../engine/index.ts';
import { Host } from './host.ts';
import { registerScheme } from './page.ts';

/**
 * The tray application. Nothing happens before the single-instance lock is ours: a second launch tells the first
 * one to show its window and ends.
 */
function main(): void {
  // Each state folder has an instance and window preferences of its own.
  if (process.env.METACLAW_HOME?.trim()) app.setPath('userData', join(systemPorts(process.env).home, 'app'));
  if (!app.requestSingleInstanceLock()) {
    process.stdout.write('MetaClaw already runs; its window is shown.\n');
    app.exit(0);
    return;
  }
  // The terminal that it was started from may be gone: what is told there is lost, and nothing else happens.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  registerScheme();
  const host = new Host({
    env: process.env,
    argv: process.argv,
    exit: (code) => app.exit(code),
  });
  app.on('second-instance', () => host.show());
  app.on('activate', () => host.show());
  // The tray goes on without a window.
  app.on('window-all-closed', () => {});
  app.on('before-quit', (event) => {
    if (host.isDone) return;
    event.preventDefault();
    void host.quit();
  });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => host.mishap(error));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void host.quit());
  void app.whenReady().then(() => host.start());
}

main();
