// @ts-check
// Stands in for OpenClaw's program, as strict with its settings as the real one: `config patch --stdin`, `--version`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import JSON5 from 'json5';

const path = join(process.env.HOME ?? '', '.openclaw', 'openclaw.json');
/** Compat keys that this version knows; set by the test. */
const known = (process.env.FAKE_OPENCLAW_COMPAT ?? 'sendSessionAffinityHeaders,supportsPromptCacheKey').split(
  ',',
);
/** Providers whose models can be reached; all where it is not set. */
const reachable = process.env.FAKE_OPENCLAW_REACHES?.split(',');
const MODEL = ['id', 'name', 'input', 'contextWindow', 'maxTokens', 'compat', 'reasoning', 'cost'];
const PROVIDER = ['api', 'baseUrl', 'apiKey', 'models', 'headers'];

const args = process.argv.slice(2);
if (args[0] === '--version') {
  process.stdout.write('OpenClaw 2026.9.6 (fake)\n');
} else if (args[0] === 'config' && args[1] === 'patch' && args.includes('--stdin')) {
  patch(args.includes('--dry-run'), args.includes('--json'));
} else {
  process.stderr.write(`unknown command: ${args.join(' ')}\n`);
  process.exitCode = 1;
}

/**
 * @param {boolean} dry
 * @param {boolean} json
 */
function patch(dry, json) {
  if (json && !dry) return fail('config patch mode error: --json requires --dry-run.');
  const now = existsSync(path) ? JSON5.parse(readFileSync(path, 'utf8')) : {};
  const next = merge(now, JSON.parse(readFileSync(0, 'utf8')));
  const errors = faults(next);
  if (dry && json) {
    process.stdout.write(
      `${JSON.stringify({ ok: errors.length === 0, errors: errors.map((message) => ({ kind: 'schema', message })) })}\n`,
    );
    process.exitCode = errors.length === 0 ? 0 : 1;
    return;
  }
  if (errors.length > 0) return fail(errors.join('\n'));
  if (dry) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `${JSON.stringify({ ...next, meta: { lastTouchedAt: new Date().toISOString() } }, null, 2)}\n`,
  );
}

/** @param {string} words */
function fail(words) {
  process.stderr.write(`${words}\n`);
  process.exitCode = 1;
}

/**
 * RFC 7396.
 * @param {any} target
 * @param {any} change
 * @returns {any}
 */
function merge(target, change) {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  const result = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}

/**
 * @param {any} config
 * @returns {string[]}
 */
function faults(config) {
  const found = [];
  for (const [id, provider] of Object.entries(config.models?.providers ?? {})) {
    const at = `models.providers.${id}`;
    for (const key of Object.keys(provider))
      if (!PROVIDER.includes(key)) found.push(`- ${at}: Unrecognized key: "${key}"`);
    if (!['openai-completions', 'openai-responses', 'anthropic-messages'].includes(provider.api))
      found.push(`- ${at}.api: Invalid option`);
    for (const [index, model] of (provider.models ?? []).entries()) {
      if (typeof model.id !== 'string' || typeof model.name !== 'string')
        found.push(`- ${at}.models[${index}]: id and name are required`);
      for (const key of Object.keys(model))
        if (!MODEL.includes(key)) found.push(`- ${at}.models[${index}]: Unrecognized key: "${key}"`);
      for (const key of Object.keys(model.compat ?? {}))
        if (!known.includes(key)) found.push(`- ${at}.models[${index}].compat: Unrecognized key: "${key}"`);
    }
  }
  const model = config.agents?.defaults?.model;
  const primary = typeof model === 'string' ? model : model?.primary;
  const listed = config.agents?.defaults?.models;
  if (primary && listed && Object.keys(listed).length > 0 && !(primary in listed))
    found.push(`- agents.defaults.model: ${primary} is not allowed`);
  if (primary && reachable && !reachable.includes(primary.split('/')[0]))
    found.push(
      `Cannot set model reference "${primary}" at agents.defaults.model.primary: Unknown model: ${primary}.`,
    );
  return found;
}
