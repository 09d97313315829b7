// Plays the part of Electron's default app inside the fallback runtime, which comes without one:
// skips flags, honours -r FILE, takes the first other argument as the application's folder and loads its main.
'use strict';
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve } = require('node:path');
const { app, dialog } = require('electron');

const preloads = [];
let folder;
const argv = process.argv.slice(1);
for (let i = 0; i < argv.length; i += 1) {
  const arg = argv[i];
  if (arg === '-r' || arg === '--require') preloads.push(argv[++i]);
  else if (arg === '-v' || arg === '--version') {
    process.stdout.write(`v${process.versions.electron}\n`);
    process.exit(0);
  } else if (!arg.startsWith('-')) {
    folder = resolve(arg);
    break;
  }
}

Object.defineProperty(process, 'defaultApp', { enumerable: true, value: true });
if (preloads.length > 0) Module._preloadModules(preloads);

if (folder === undefined) {
  process.stderr.write('usage: electron [flags] FOLDER\n');
  process.exit(1);
}

try {
  const manifest = join(folder, 'package.json');
  let appPath = folder;
  if (existsSync(manifest)) {
    const { name, productName, version, desktopName } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (version) app.setVersion(version);
    if (productName || name) app.setName(productName || name);
    if (desktopName) app.setDesktopName(desktopName);
  } else {
    appPath = dirname(Module._resolveFilename(folder, null, true));
  }
  app.setAppPath(appPath);
  Module._load(folder, null, true);
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  dialog.showErrorBox('The application failed to start', String(error.stack));
  process.exit(1);
}
