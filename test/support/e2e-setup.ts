import { startDesktop } from './desktop';

/**
 * Prepares what every end-to-end test shares: a fresh build, a runtime and, on Linux, a desktop of its own.
 * Playwright passes the environment that is set here on to its workers, and calls what is returned at the end.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Playwright turns static imports into require, which these modules do not bear.
  const { ensureBuild } = await import('../../scripts/lib/setup.mjs');
  const { ensureElectron } = await import('../../scripts/electron-runtime.mjs');
  await ensureBuild();
  const runtime = await ensureElectron();
  process.env.METACLAW_TEST_ELECTRON = runtime.executable;
  if (process.platform !== 'linux') return undefined;
  const desktop = await startDesktop();
  return desktop.stop;
}
