import type { Clock } from '../../src/engine/ports.ts';

/** A clock that stands still until a test moves it; timers fire in order while it advances. */
export interface FakeClock extends Clock {
  /** Moves time forward and runs what falls due on the way, each at its own time. */
  advance(ms: number): void;
  /** Sets the time on (or back) as a suspended machine or a corrected clock does: timers still wait as long as before. */
  sleep(ms: number): void;
  /** Timers that wait. */
  pending(): number;
}

export function fakeClock(startMs = Date.UTC(2026, 0, 6, 12)): FakeClock {
  let nowMs = startMs;
  let order = 0;
  const timers = new Map<number, { at: number; fn: () => void }>();

  const nextDue = (untilMs: number): number | null => {
    let best: number | null = null;
    for (const [id, timer] of timers) {
      if (timer.at > untilMs) continue;
      const bestTimer = best === null ? undefined : timers.get(best);
      if (!bestTimer || timer.at < bestTimer.at) best = id;
    }
    return best;
  };

  return {
    now: () => nowMs,
    after(ms, fn) {
      order += 1;
      const id = order;
      timers.set(id, { at: nowMs + Math.max(0, ms), fn });
      return () => {
        timers.delete(id);
      };
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let id = nextDue(untilMs); id !== null; id = nextDue(untilMs)) {
        const timer = timers.get(id);
        timers.delete(id);
        if (!timer) continue;
        nowMs = Math.max(nowMs, timer.at);
        timer.fn();
      }
      nowMs = untilMs;
    },
    sleep(ms) {
      nowMs += ms;
      for (const timer of timers.values()) timer.at += ms;
    },
    pending: () => timers.size,
  };
}
