// @ts-check
// `npm run check`: everything about the source that needs no running program.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './lib/child.mjs';
import { checkDependencies } from './lib/dependency-rules.mjs';
import { root } from './lib/paths.mjs';
import { runScript, StepError } from './lib/say.mjs';
import { ensureDependencies } from './lib/setup.mjs';
import { runStep } from './lib/step.mjs';
import { checkNotices } from './notices.mjs';

/** The dependency rules must have seen at least so many modules; raised as the tree grows. */
export const minimumModules = 200;

/** @typedef {{ name: string, work: () => Promise<{ ok: boolean, output: string }> }} Check */

/** @type {readonly Check[]} */
const checks = [
  { name: 'types (node)', work: () => typecheck('node') },
  { name: 'types (web)', work: () => typecheck('web') },
  { name: 'types (shared)', work: () => typecheck('shared') },
  { name: 'lint', work: () => tool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']) },
  { name: 'dependency rules', work: dependencyRules },
  { name: 'unused files and exports', work: () => tool('knip/bin/knip.js', ['--no-progress']) },
  { name: 'third-party notices', work: async () => checkNotices() },
];

/**
 * Runs every check, two at a time, to its end whatever the others say.
 * @returns {Promise<number>} how many failed
 */
export async function runChecks() {
  const queue = [...checks];
  let failed = 0;
  const worker = async () => {
    for (let check = queue.shift(); check; check = queue.shift()) {
      const { ok } = await runStep(check.name, check.work);
      if (!ok) failed += 1;
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

/** @param {string} project */
function typecheck(project) {
  const info = join(root, '.cache', 'types', `${project}.tsbuildinfo`);
  mkdirSync(join(root, '.cache', 'types'), { recursive: true });
  return tool('typescript/bin/tsc', [
    '-p',
    `tsconfig.${project}.json`,
    '--incremental',
    '--tsBuildInfoFile',
    info,
  ]);
}

async function dependencyRules() {
  const { modules, violations } = await checkDependencies(root);
  const lines = [...violations];
  if (modules < minimumModules) {
    lines.push(`only ${modules} modules were seen; at least ${minimumModules} are expected`);
  }
  return { ok: lines.length === 0, output: lines.join('\n') };
}

/**
 * @param {string} script below node_modules
 * @param {readonly string[]} args
 */
async function tool(script, args) {
  const { code, output } = await run(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
  });
  return { ok: code === 0, output };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  void runScript(async () => {
    await ensureDependencies();
    const failed = await runChecks();
    if (failed > 0) throw new StepError(`${failed} of ${checks.length} checks failed`);
  });
}
