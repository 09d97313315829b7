import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 50;

/** Asks again and again until `probe` gives something; null when time is up. */
export async function pollUntil<T>(timeoutMs: number, probe: () => Promise<T | null>): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    if (performance.now() > deadline) return null;
    await sleep(STEP_MS);
  }
}
