import { z } from 'zod';
import type { Mode } from './model.ts';

/** What screens, CLI and docs need to know of a key beside its type. */
export interface KeyMeta {
  label: string;
  help: string;
  /** Write-only: masked in every output, kept in the secret store when set through MetaClaw. */
  secret?: boolean;
  /** A change holds only after the proxy restarts. */
  restart?: boolean;
  /** Read and kept for files of the original; nothing here uses it (the help says why). */
  legacy?: boolean;
}

type Meta = Omit<KeyMeta, 'label' | 'help'>;

/** One key: null and absent mean the default. */
function key<S extends z.ZodType>(
  schema: S,
  fallback: z.output<S>,
  label: string,
  help: string,
  meta: Meta = {},
) {
  const inner = schema.default(fallback as Exclude<z.output<S>, undefined>);
  return z.preprocess((value) => value ?? undefined, inner).meta({ label, help, ...meta });
}

/** A value without a default: null and absent are both absent. */
function absent<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? undefined, schema.optional());
}

/** A value inside a list's item: null and absent mean the default. */
function plain<S extends z.ZodType>(schema: S, fallback: z.output<S>) {
  return z.preprocess(
    (value) => value ?? undefined,
    schema.default(fallback as Exclude<z.output<S>, undefined>),
  );
}

/** An empty mapping for null. */
function nothing<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? {}, schema);
}

/** A mapping of keys; unknown keys are kept (and reported by the loader). */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, z.looseObject(shape));
}

const TRUE_WORDS = ['true', 'yes', 'on', '1'];
const FALSE_WORDS = ['false', 'no', 'off', '0'];
const bool = z.preprocess((value) => {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : null;
  if (word !== null && TRUE_WORDS.includes(word)) return true;
  if (word !== null && FALSE_WORDS.includes(word)) return false;
  return value;
}, z.boolean('expected true or false'));

/** Yes, no, or what the provider is known for. */
const flag = z.preprocess(
  (value) => (typeof value === 'boolean' ? String(value) : value),
  z.enum(['auto', 'true', 'false']),
);

function number(schema: z.ZodNumber) {
  return z.preprocess(
    (value) =>
      typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))
        ? Number(value)
        : value,
    schema,
  );
}
const int = (min: number, max = Number.MAX_SAFE_INTEGER) => number(z.number().int().min(min).max(max));
/** Model ids and keys that YAML read as numbers are text. */
const text = z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string());
const list = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean)
      : value,
  z.array(text),
);
/** `HH:MM`; YAML 1.1 reads an unquoted 23:00 as 1380 minutes. */
const clockTime = z.preprocess(
  (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= 1440) return value;
    return `${String(Math.floor(value / 60)).padStart(2, '0')}:${String(value % 60).padStart(2, '0')}`;
  },
  z.string().regex(/^([01]?\d|2[0-3]):[0-5]\d$/, 'expected a time like 23:00'),
);

const SECRET = { secret: true } as const;
const RESTART = { restart: true } as const;
const LEGACY = { legacy: true } as const;

const llmShape = {
  provider: key(
    text,
    'custom',
    'Provider',
    'Preset of the model that answers: openai, anthropic, openrouter, kimi, qwen, deepseek, ollama, lmstudio, … or custom.',
  ),
  wire: key(
    z.enum(['auto', 'openai', 'anthropic', 'responses']),
    'auto',
    'Wire',
    'Dialect that the provider speaks: openai (chat completions), responses, anthropic; auto takes it from the preset and the address.',
  ),
  auth_method: key(
    z.enum(['api_key', 'oauth_token', 'passthrough']),
    'api_key',
    'Sign-in',
    'api_key uses the stored key; passthrough sends the caller’s own credentials on, unstored.',
  ),
  model_id: key(text, '', 'Model', 'Model that answers; also the name under which MetaClaw serves it.'),
  models: key(
    list,
    [],
    'More models',
    'Model names that clients may ask for and that go to the provider as they are.',
  ),
  api_base: key(
    text,
    '',
    'Address',
    'Base URL of the provider; empty takes the preset’s. With or without /v1.',
  ),
  api_key: key(text, '', 'Key', 'Key of the provider.', SECRET),
  fallbacks: key(
    z.array(
      z.looseObject({
        provider: plain(text, ''),
        wire: plain(z.enum(['auto', 'openai', 'anthropic', 'responses']), 'auto'),
        model_id: plain(text, ''),
        api_base: plain(text, ''),
        api_key: plain(text, ''),
      }),
    ),
    [],
    'Fallbacks',
    'Providers that are asked in turn when the first is down, out of quota or refuses its key: provider, api_base, model_id, api_key, wire.',
  ),
  compat: section({
    developer_role: key(flag, 'auto', 'Developer role', 'Whether the provider knows the developer role.'),
    one_leading_system: key(
      flag,
      'auto',
      'One system message',
      'Whether the provider takes only one system message, first.',
    ),
    text_only: key(flag, 'auto', 'Text only', 'Whether the model takes neither pictures nor files.'),
    max_tokens_field: key(
      z.enum(['auto', 'max_tokens', 'max_completion_tokens']),
      'auto',
      'Limit field',
      'Name of the field that limits an answer.',
    ),
    reasoning: key(
      z.enum(['auto', 'drop', 'keep', 'reasoning_content']),
      'auto',
      'Earlier reasoning',
      'drop takes it out, keep leaves what the client sends, reasoning_content gives it back to a provider that demands it. auto knows some providers and learns the rest from their refusals.',
    ),
  }),
};

/** What one agent may have of its own; what it leaves out comes from `llm`. */
const agentLlmShape = {
  provider: absent(text),
  wire: absent(z.enum(['auto', 'openai', 'anthropic', 'responses'])),
  auth_method: absent(z.enum(['api_key', 'oauth_token', 'passthrough'])),
  model_id: absent(text),
  models: absent(list),
  api_base: absent(text),
  api_key: absent(text),
};

export const configSchema = z.looseObject({
  mode: key(
    z.preprocess((value) => (value === 'auto' ? 'madmax' : value), z.enum(['skills_only', 'rl', 'madmax'])),
    'madmax',
    'Mode',
    'skills_only: skills and memory only. rl: train when a batch is full. madmax: train when nobody minds.',
  ),
  claw_type: key(
    z.enum([
      'openclaw',
      'copaw',
      'ironclaw',
      'picoclaw',
      'zeroclaw',
      'nanoclaw',
      'nemoclaw',
      'hermes',
      'none',
    ]),
    'none',
    'Agent',
    'Agent that the original configured at start; here agents are connected on request.',
    LEGACY,
  ),
  configure_openclaw: key(
    bool,
    false,
    'Configure OpenClaw',
    'Old switch of the original; agents are connected on request.',
    LEGACY,
  ),
  max_context_tokens: key(
    z.preprocess(
      (v) => (v === 'auto' ? v : typeof v === 'string' && /^\d+$/.test(v) ? Number(v) : v),
      z.union([z.literal('auto'), z.number().int().min(0)]),
    ),
    'auto',
    'Context limit',
    'Largest prompt in tokens. auto: no cut on turns that the LLM answers. A number cuts the oldest history of every turn to it; 0 never cuts.',
  ),
  context_window: key(
    int(0),
    0,
    'Advertised context window',
    'Tokens that the model can hold. A number cuts history so that the answer has room; 0 counts on 200000 and cuts nothing.',
  ),
  bypass: key(
    bool,
    false,
    'Bypass',
    'Makes the proxy a plain pass-through: nothing added, recorded or learned.',
  ),

  llm: section({
    ...llmShape,
    bedrock_region: key(text, 'us-east-1', 'Bedrock region', 'Region of the Bedrock endpoint.'),
  }),
  agents: key(
    z.record(
      z.string(),
      nothing(z.looseObject({ llm: absent(z.looseObject(agentLlmShape)), private: absent(bool) })),
    ),
    {},
    'Agents',
    'Settings per agent, e.g. agents.openclaw.llm.model_id.',
  ),
  openrouter: section({
    app_name: key(text, 'MetaClaw', 'App name', 'Sent to OpenRouter as X-Title.'),
    app_url: key(text, '', 'App URL', 'Sent to OpenRouter as HTTP-Referer.'),
    route: key(text, 'fallback', 'Route', 'fallback, or a sort key: price, throughput, latency.'),
    fallback_models: key(list, [], 'Fallback models', 'Models that OpenRouter tries next.'),
    data_policy: key(
      z.enum(['allow', 'deny']),
      'allow',
      'Data policy',
      'deny asks OpenRouter for providers that store nothing.',
    ),
  }),
  proxy: section({
    host: key(
      text,
      '127.0.0.1',
      'Address',
      'Address to listen on. Anything but loopback needs proxy.api_key too; without a key the proxy stays on loopback.',
      RESTART,
    ),
    port: key(int(0, 65535), 30000, 'Port', 'Port of the proxy.', RESTART),
    api_key: key(text, '', 'Key', 'When set, agents must send it as bearer or x-api-key.', SECRET),
    trusted_local: key(bool, false, 'Trusted local', 'Key of the original; has no effect here.', LEGACY),
    allowed_hosts: key(
      list,
      [],
      'Allowed hosts',
      'Host names beside loopback that requests may carry in their Host header.',
    ),
    allowed_origins: key(
      list,
      [],
      'Allowed origins',
      'Web origins that may call the proxy; none by default.',
    ),
    max_body_mb: key(int(1, 1024), 64, 'Body limit', 'Largest request body in MiB.'),
    listeners: key(
      z.array(
        z.looseObject({
          host: text,
          port: int(1, 65535),
          api_key: text.optional(),
          consent: bool.optional(),
        }),
      ),
      [],
      'More addresses',
      'Further addresses, each with its own key and consent: true.',
      RESTART,
    ),
  }),
  skills: section({
    enabled: key(bool, true, 'Skills', 'Adds matching skills to turns.'),
    dir: key(text, '~/.metaclaw/skills', 'Folder', 'Folder of the skill library.', RESTART),
    retrieval_mode: key(
      z.enum(['hybrid', 'template', 'embedding']),
      'hybrid',
      'Retrieval',
      'How skills are matched.',
    ),
    top_k: key(int(0, 100), 6, 'Most skills', 'Most skills that enter one turn.'),
    task_specific_top_k: key(
      int(0, 100),
      10,
      'Most task skills',
      'Key of the original: bound for skills of the task’s category.',
    ),
    max_tokens: key(int(0), 1200, 'Token budget', 'Most tokens of skills that a session carries.'),
    auto_evolve: key(bool, true, 'Learn skills', 'Proposes skills after a session.'),
    auto_accept: key(
      z.enum(['safe', 'ask', 'always']),
      'safe',
      'Accept',
      'safe: a new skill that passes the scan and duplicates nothing goes live; ask: all wait; always: duplicates go live too. What the scan flags always waits.',
    ),
    evolution_every_n_turns: key(
      int(0),
      10,
      'Learn every n turns',
      'Also learns after so many turns of a running session; 0 only at its end.',
    ),
  }),
  learning: section({
    holdout: key(
      number(z.number().min(0).max(1)),
      0.1,
      'Hold-out',
      'Share of sessions in which a matched skill is withheld to measure its worth. In force once worth is measured.',
    ),
  }),
  sessions: section({
    idle_minutes: key(
      number(z.number().min(0.01)),
      5,
      'Idle minutes',
      'A session ends after so long without a turn.',
    ),
  }),
  record: section({
    bodies: key(
      bool,
      true,
      'Record bodies',
      'Stores what came in, went upstream and came back, redacted. Off: metadata only, and nothing is learned.',
    ),
  }),
  usage: section({
    daily_cap: key(
      z.union([z.null(), number(z.number().min(0))]).optional(),
      undefined,
      'Daily cap',
      'Most tokens a day for our own calls (learning); the chat is never capped.',
    ),
  }),
  log: section({
    level: key(
      z.enum(['debug', 'info', 'warn', 'error']),
      'info',
      'Log level',
      'How much the log says. METACLAW_LOG overrides it.',
    ),
  }),
  rl: section({
    enabled: key(bool, false, 'Train weights', 'Scores turns and trains a LoRA in the cloud.'),
    backend: key(z.enum(['auto', 'tinker', 'mint', 'weaver']), 'auto', 'Backend', 'Training service.'),
    model: key(text, '', 'Base model', 'Model that is trained.'),
    api_key: key(text, '', 'Training key', 'Key of the training service.', SECRET),
    base_url: key(text, '', 'Training address', 'Address of the training service.'),
    tinker_api_key: key(text, '', 'Tinker key', 'Old name of rl.api_key.', { ...SECRET, ...LEGACY }),
    tinker_base_url: key(text, '', 'Tinker address', 'Old name of rl.base_url.', LEGACY),
    serve: key(
      z.enum(['policy', 'llm', 'shadow']),
      'policy',
      'Who answers',
      'policy, with the LLM as fallback; llm; or shadow.',
    ),
    advantage: key(
      z.enum(['auto', 'group', 'batch']),
      'auto',
      'Advantage',
      'auto: group mean for groups, else a running baseline.',
    ),
    approval: key(z.enum(['manual', 'auto']), 'manual', 'Approval', 'Who applies trained weights.'),
    prm_provider: key(text, 'openai', 'Judge provider', 'Provider of the judge.'),
    prm_url: key(text, 'https://api.openai.com/v1', 'Judge address', 'Endpoint of the judge.'),
    prm_model: key(text, 'gpt-5.2', 'Judge model', 'Model of the judge.'),
    prm_api_key: key(text, '', 'Judge key', 'Key of the judge.', SECRET),
    lora_rank: key(int(1), 32, 'LoRA rank', 'Rank of the adapter.'),
    batch_size: key(int(1), 4, 'Batch size', 'Samples per training step.'),
    resume_from_ckpt: key(text, '', 'Resume from', 'Checkpoint to start from.'),
    evolver_provider: key(
      text,
      '',
      'Evolver provider',
      'Provider of the model that writes skills; empty: the LLM’s.',
    ),
    evolver_api_base: key(
      text,
      '',
      'Evolver address',
      'Endpoint of the model that writes skills; empty: the LLM’s.',
    ),
    evolver_api_key: key(
      text,
      '',
      'Evolver key',
      'Key of the model that writes skills; empty: the LLM’s.',
      SECRET,
    ),
    evolver_model: key(text, '', 'Evolver model', 'Model that writes skills; empty: the LLM’s.'),
    manual_train_trigger: key(bool, false, 'Train on request only', 'Trains only when asked.'),
    openclaw_env_data_dir: key(text, '', 'Rollout tasks', 'Folder of rollout tasks.'),
    openclaw_env_split: key(text, 'train', 'Rollout split', 'File of the tasks, without .jsonl.'),
    openclaw_env_concurrency: key(int(1), 4, 'Rollouts at once', 'Episodes that run together.'),
    openclaw_env_max_steps: key(int(1), 15, 'Rollout steps', 'Most steps of an episode.'),
  }),
  openclaw_env_data_dir: key(text, '', 'Rollout tasks', 'Also read here, as with the original.', LEGACY),
  bedrock_region: key(text, '', 'Bedrock region', 'Old place of llm.bedrock_region.', LEGACY),
  opd: section({
    enabled: key(bool, false, 'Distil', 'Adds a teacher’s signal to training.'),
    teacher_url: key(text, '', 'Teacher address', 'Endpoint of the teacher.'),
    teacher_model: key(text, '', 'Teacher model', 'Model of the teacher.'),
    teacher_api_key: key(text, '', 'Teacher key', 'Key of the teacher.', SECRET),
    kl_penalty_coef: key(number(z.number().min(0)), 1, 'KL weight', 'Weight of the teacher’s signal.'),
  }),
  memory: section({
    enabled: key(bool, true, 'Memory', 'Remembers facts, preferences and project history.'),
    dir: key(text, '~/.metaclaw/memory', 'Folder', 'Folder of the original’s memory.'),
    store_path: key(
      text,
      '~/.metaclaw/memory/memory.db',
      'Old store',
      'Store of the original, imported on request.',
      LEGACY,
    ),
    policy_path: key(
      text,
      '~/.metaclaw/memory/policy.json',
      'Old policy',
      'Policy file of the original.',
      LEGACY,
    ),
    telemetry_path: key(
      text,
      '~/.metaclaw/memory/telemetry.jsonl',
      'Old telemetry',
      'Telemetry file of the original.',
      LEGACY,
    ),
    scope: key(text, 'default', 'Scope', 'Scope of agents that name none.'),
    retrieval_mode: key(
      z.enum(['keyword', 'hybrid', 'embedding']),
      'hybrid',
      'Retrieval',
      'How memories are matched.',
    ),
    use_embeddings: key(bool, false, 'Embeddings', 'Uses an embeddings endpoint.'),
    embedding_mode: key(text, 'hashing', 'Embedding mode', 'Key of the original.', LEGACY),
    embedding_model: key(text, '', 'Embedding model', 'Model of the embeddings endpoint.'),
    embedding_model_path: key(text, '', 'Embedding model path', 'Key of the original.', LEGACY),
    extractor: key(z.enum(['rules', 'llm']), 'llm', 'Extractor', 'Who turns conversations into memories.'),
    flush_every: key(int(1), 5, 'Extract every n turns', 'Turns per extraction.'),
    adaptive: key(bool, false, 'Adaptive limits', 'Tunes limits by replay before it adopts them.'),
    auto_upgrade_enabled: key(bool, false, 'Auto upgrade', 'Old name of memory.adaptive.', LEGACY),
    auto_upgrade_interval_seconds: key(int(1), 900, 'Upgrade interval', 'Key of the original.', LEGACY),
    auto_upgrade_require_review: key(bool, true, 'Upgrade review', 'Key of the original.', LEGACY),
    review_stale_after_hours: key(int(1), 72, 'Stale review', 'Key of the original.', LEGACY),
    top_k: key(int(0), 6, 'Most memories', 'Old name of memory.max_injected_units.', LEGACY),
    max_tokens: key(int(0), 800, 'Token budget', 'Old name of memory.max_injected_tokens.', LEGACY),
    consolidation_interval: key(
      int(0),
      0,
      'Consolidation interval',
      'Key of the original that nothing read.',
      LEGACY,
    ),
    max_injected_units: key(int(0), 6, 'Most memories', 'Most memories that enter one turn.'),
    max_injected_tokens: key(int(0), 800, 'Token budget', 'Most tokens of memories in one turn.'),
    auto_extract: key(bool, true, 'Extract', 'Extracts memories by itself.'),
    auto_consolidate: key(bool, true, 'Consolidate', 'Merges and supersedes memories by itself.'),
    ignore_turn_type: key(bool, false, 'Side turns too', 'Also reads side turns.'),
    manual_trigger: key(bool, false, 'Extract on request only', 'Extracts only when asked.'),
    sidecar_url: key(text, '', 'Sidecar', 'Address of the memory sidecar.'),
  }),
  scheduler: section({
    enabled: key(bool, false, 'Scheduler', 'Trains only in windows; always on in madmax.'),
    idle_threshold_minutes: key(int(1), 30, 'Idle minutes', 'Idle time that opens a window.'),
    min_window_minutes: key(int(0), 15, 'Shortest window', 'A window shorter than this is not used.'),
    sleep_start: key(clockTime, '23:00', 'Sleep from', 'Start of the night.'),
    sleep_end: key(clockTime, '07:00', 'Sleep until', 'End of the night.'),
    sleep_windows: key(
      z.array(z.looseObject({ start: clockTime, end: clockTime, days: list.optional() })),
      [],
      'Sleep windows',
      'Several windows, each with days.',
    ),
    calendar: section({
      enabled: key(bool, false, 'Calendar', 'Trains during meetings of a Google calendar.'),
      credentials_path: key(text, '', 'Credentials', 'Client file of a Google project.'),
      token_path: key(text, '~/.metaclaw/calendar_token.json', 'Token', 'Where the token is kept.'),
    }),
  }),
  wechat: section({
    enabled: key(bool, false, 'WeChat', 'Connects OpenClaw to WeChat.'),
  }),
});

/** The whole configuration, every default filled in. */
export type Config = z.output<typeof configSchema>;

export const DEFAULT_CONFIG: Config = configSchema.parse({});

/** Keys that moved: an old name counts where the file does not give the new one. */
export const LEGACY_ALIASES: readonly (readonly [from: string, to: string])[] = [
  ['rl.tinker_api_key', 'rl.api_key'],
  ['rl.tinker_base_url', 'rl.base_url'],
  ['openclaw_env_data_dir', 'rl.openclaw_env_data_dir'],
  ['bedrock_region', 'llm.bedrock_region'],
  ['memory.auto_upgrade_enabled', 'memory.adaptive'],
  ['memory.top_k', 'memory.max_injected_units'],
  ['memory.max_tokens', 'memory.max_injected_tokens'],
];

/**
 * The mode that is in force. `rl` and `madmax` need training to be switched on, a key and a backend; without them
 * the LLM answers as in `skills_only`, and `reason` says what is missing.
 */
export function effectiveMode(
  config: Config,
  trainingBuiltIn = false,
): { mode: Mode; reason: string | null } {
  if (config.mode === 'skills_only') return { mode: 'skills_only', reason: null };
  const missing = !config.rl.enabled
    ? 'rl.enabled is false'
    : !trainingBuiltIn
      ? 'this version has no training backend yet'
      : config.rl.api_key === ''
        ? 'rl.api_key is not set'
        : config.rl.model === ''
          ? 'rl.model is not set'
          : null;
  return missing === null
    ? { mode: config.mode, reason: null }
    : { mode: 'skills_only', reason: `Training is off: ${missing}.` };
}

/** True for addresses that only this computer reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Where the proxy listens. The original wrote `0.0.0.0` into every file, so an open address without a key is not
 * the user's wish: such a file binds loopback, and `warning` says so.
 */
export function listenAddress(config: Config): { host: string; port: number; warning: string | null } {
  const { host, port, api_key } = config.proxy;
  if (isLoopback(host) || api_key !== '') return { host, port, warning: null };
  return {
    host: '127.0.0.1',
    port,
    warning: `proxy.host is ${host}, but no proxy.api_key is set: the proxy listens on 127.0.0.1 only.`,
  };
}
