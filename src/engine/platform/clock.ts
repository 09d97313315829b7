import type { Clock } from '../ports.ts';

/** The time of this computer; its timers never keep the process alive by themselves. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}
