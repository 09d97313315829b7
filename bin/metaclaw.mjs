#!/usr/bin/env node
// @ts-check
// The CLI out of a checkout: builds what is missing, telling so on stderr, then runs in this same process so that
// stdin, stdout, signals and the exit code are the CLI's own.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../scripts/lib/paths.mjs';
import { runScript, sayOnStderr } from '../scripts/lib/say.mjs';
import { checkNode, ensureBuild, ensureDependencies } from '../scripts/lib/setup.mjs';

const cli = join(root, 'out', 'main', 'cli.cjs');

await runScript(async () => {
  sayOnStderr();
  checkNode();
  if (existsSync(cli) && existsSync(join(root, 'node_modules'))) return;
  await ensureDependencies();
  await ensureBuild();
});

process.argv[1] = cli;
await import(pathToFileURL(cli).href);
