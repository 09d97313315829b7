// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * Checks the import graph of a source tree against the rules of .dependency-cruiser.cjs.
 * The number of modules is part of the answer: a cruiser that sees nothing finds nothing wrong.
 * @param {string} base folder that holds src
 * @returns {Promise<{ modules: number, violations: string[] }>}
 */
export async function checkDependencies(base) {
  const { cruise } = await import('dependency-cruiser');
  const { forbidden, options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'));
  const { output } = await cruise(['src'], {
    ...options,
    baseDir: base,
    validate: true,
    ruleSet: { forbidden, options },
  });
  if (typeof output === 'string')
    throw new Error('dependency-cruiser gave text where a result was asked for');
  return {
    modules: output.modules.filter((module) => /^src\/.*\.tsx?$/.test(module.source)).length,
    violations: output.summary.violations.map(({ rule, from, to, cycle }) => {
      const path = cycle && cycle.length > 0 ? [from, ...cycle.map((step) => step.name)] : [from, to];
      return `${rule.name}: ${path.join(' → ')}`;
    }),
  };
}
