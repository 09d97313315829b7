// @ts-check
// `npm run dev`: electron-vite's development server with live reload, in the runtime that this machine can have.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureElectron, runtimeEnv } from './electron-runtime.mjs';
import { root } from './lib/paths.mjs';
import { runScript } from './lib/say.mjs';
import { checkNode, ensureDependencies } from './lib/setup.mjs';

await runScript(async () => {
  checkNode();
  await ensureDependencies();
  const env = { ...process.env, ...runtimeEnv(await ensureElectron()) };
  const vite = join(root, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js');
  // Chromium refuses its sandbox for root; the flag is never in what is shipped.
  const sandbox = process.getuid?.() === 0 ? ['--noSandbox'] : [];
  const args = [vite, 'dev', ...sandbox, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.on(signal, () => child.kill(signal));
  child.once('exit', (code) => process.exit(code ?? 1));
});
