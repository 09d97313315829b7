import type { Engine } from '../engine/index.ts';

/**
 * `ended` resolves on a signal, or when somebody asks the engine to quit. A second signal ends the process at once, for
 * a stop that hangs.
 */
export function waitForEnd(bus?: Engine['bus']): { ended: Promise<void>; release: () => void } {
  // What runs may have nothing else that keeps the process alive.
  const hold = setInterval(() => {}, 60_000);
  const ended = new Promise<void>((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        resolve();
      });
    // The asker gets its answer before the control port goes.
    bus?.on('quit', () => setTimeout(resolve, 50));
  });
  return { ended, release: () => clearInterval(hold) };
}
