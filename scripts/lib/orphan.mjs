// @ts-check

/**
 * Calls back once when npm is gone. npm passes a signal to the shell it started, and the shell dies without passing
 * it on: without this, ending `npm start` would leave the application running.
 * @param {() => void} ended
 */
export function whenOrphaned(ended) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended();
  }, 250);
  timer.unref();
}
