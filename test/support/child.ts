import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/**
 * Bundles a TypeScript entry of test/ for plain Node, so that a test can run real code in a process of its own and
 * kill it. Returns the path of the bundle in `outDir`.
 */
export async function bundleForNode(entry: string, outDir: string): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
    build: {
      ssr: entry,
      outDir,
      emptyOutDir: false,
      minify: false,
      rollupOptions: { output: { entryFileNames: 'child.mjs', format: 'es' } },
    },
  });
  return `${outDir}/child.mjs`;
}

/** Starts a bundle. Its own lines arrive through `onLine`; the caller kills it. */
export function startChild(bundle: string, args: string[], onLine: (line: string) => void): ChildProcess {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  return child;
}
