import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

// Electron and Node's own modules exist at run time only; the SQLite driver is native and finds its binary
// beside its own package. Everything else is bundled, so that the CLI and the application need no node_modules.
const external = ['electron', /^electron\//, /^node:/, '@photostructure/sqlite'];

// The oldest runtime that has to work: Electron 25 (Node 18, Chromium 114).
const nodeTarget = 'node18';
const chromiumTarget = 'chrome114';

export default defineConfig({
  main: {
    build: {
      target: nodeTarget,
      externalizeDeps: false,
      outDir: 'out/main',
      sourcemap: true,
      rollupOptions: {
        input: { index: resolve('src/main/index.ts'), cli: resolve('src/cli/index.ts') },
        external,
        output: { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'chunks/[name]-[hash].cjs' },
      },
    },
  },
  preload: {
    build: {
      target: nodeTarget,
      externalizeDeps: false,
      outDir: 'out/preload',
      rollupOptions: {
        input: { index: resolve('src/preload/index.ts') },
        external: ['electron'],
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'src/renderer',
    base: './',
    plugins: [react()],
    build: {
      target: chromiumTarget,
      minify: true,
      outDir: 'out/renderer',
      emptyOutDir: true,
      rollupOptions: { input: { index: resolve('src/renderer/index.html') } },
    },
  },
});
