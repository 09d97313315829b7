import { z } from 'zod';
import { AGENT_IDS, type AgentPlan, type AgentSummary, type AgentVerification } from './connections.ts';
import type { ErrorJson } from './errors.ts';
import {
  MEMORY_KINDS,
  MEMORY_STATUSES,
  type MemoryConflict,
  type MemoryDetail,
  type MemoryFacets,
  type MemoryHit,
  type MemoryScope,
  type MemoryStats,
  type MemoryUnit,
} from './memory.ts';
import type { Adaptive, MemoryEval } from './memory-eval.ts';
import type {
  SkillDetail,
  SkillProblem,
  SkillProposal,
  SkillSummary,
  SkillVersion,
  TriedTurn,
  TurnDetail,
  TurnFeedback,
  TurnSummary,
} from './model.ts';
import type { PrefixState, SessionCache, SessionSummary } from './sessions.ts';
import type { Snapshot, Status } from './status.ts';
import type { UsageSummary } from './usage.ts';

/** A call that changed something may be taken back until it expires. */
export interface Undo {
  token: string;
  label: string;
  expiresAt: string;
}

export interface ProviderPreset {
  id: string;
  name: string;
  /** Second line of its card. */
  hint: string;
  baseUrl: string;
  wire: 'openai' | 'anthropic';
  needsKey: boolean;
  /** Runs on this computer. */
  local: boolean;
  /** File name of the vendor's program that answers in place of a server; null for a server. */
  program: string | null;
  suggestedModel: string;
  /** Environment variable that usually holds the key. */
  keyEnv: string | null;
}

/** One row of the live provider test; the test stops at the first failed row. */
export interface ProviderTestStep {
  id: 'address' | 'connection' | 'key' | 'models' | 'answer';
  state: 'ok' | 'failed' | 'skipped';
  detail: string;
  ms: number;
  /** What to do about it, when it failed. */
  fix: string | null;
}

export interface ProviderTest {
  ok: boolean;
  steps: ProviderTestStep[];
  models: string[];
}

/** A vendor's program on this computer, which can answer with its own sign-in. */
export interface VendorProgram {
  /** Provider id that it answers for. */
  provider: string;
  title: string;
  /** Absolute. */
  path: string;
  /** As it says itself; null when it said nothing in time. */
  version: string | null;
  /** null where the program has no way to tell. */
  signedIn: boolean | null;
}

export interface LocalServer {
  preset: string;
  name: string;
  baseUrl: string;
  models: string[];
}

/** What refusals taught about one model at one host, e.g. `refusedFields=verbosity,store` or `mostOutput=8192`. */
export interface LearnedQuirk {
  host: string;
  model: string;
  effects: string[];
}

/** One key of the configuration, as screens and CLI show it; secrets are masked. */
export interface ConfigEntry {
  path: string;
  label: string;
  help: string;
  value: unknown;
  default: unknown;
  isDefault: boolean;
  secret: boolean;
  /** For secrets: whether one is set. */
  isSet: boolean;
  restart: boolean;
  /** Set by an environment variable or a flag for this run. */
  overriddenBy: string | null;
}

export interface ConfigProblem {
  severity: 'error' | 'warning';
  /** Dotted key, or null for the file as a whole. */
  path: string | null;
  message: string;
  line: number | null;
  column: number | null;
  hint: string | null;
}

export interface DoctorCheck {
  id: string;
  title: string;
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  detail: string;
  fix: string | null;
}

export interface DemoEvent {
  step: 'start' | 'first-turn' | 'learn' | 'accept' | 'second-turn' | 'done' | 'failed';
  /** One line for people. */
  text: string;
}

const provider = z.object({
  provider: z.string().min(1),
  baseUrl: z.string(),
  model: z.string(),
  wire: z.enum(['auto', 'openai', 'anthropic', 'responses']).default('auto'),
  /** Absent: the stored key is used. */
  apiKey: z.string().max(10_000).optional(),
});

const paging = { limit: z.number().int().min(1).max(500).default(50), before: z.string().optional() };
const id = z.object({ id: z.string().min(1).max(200) });
/** A local day. */
const day = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'expected a day like 2026-01-31');
const agent = z.object({ id: z.enum(AGENT_IDS) });
const none = z.object({}).strict();
const skill = z.object({ name: z.string().min(1).max(200) });
/** Parts that are left out are empty. */
const scope = z.object({
  user: z.string().max(200).default(''),
  workspace: z.string().max(500).default(''),
  agent: z.string().max(200).default(''),
});
const memoryKind = z.enum(MEMORY_KINDS);
const memoryText = z.string().trim().min(1).max(20_000);
const ids = z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(10_000) });
/** What a list of memories shows; what is left out is not filtered by. */
const memoryFilter = {
  text: z.string().max(20_000).default(''),
  scopes: z.array(scope).max(1000).optional(),
  kinds: z.array(memoryKind).optional(),
  statuses: z.array(z.enum(MEMORY_STATUSES)).default(['active']),
  ages: z.array(z.enum(['today', 'last7Days', 'older'])).optional(),
  pinned: z.boolean().optional(),
  /** True: only those that run out within a week. */
  expiring: z.boolean().optional(),
  sessionId: z.string().max(200).optional(),
};
const skillText = z.string().min(1).max(500_000);

function query<Input extends z.ZodType>(input: Input) {
  return { kind: 'query' as const, input };
}
function command<Input extends z.ZodType>(input: Input) {
  return { kind: 'command' as const, input };
}

/** Every call that a host, screen or the CLI can make. Inputs are parsed by the router. */
export const ROUTES = {
  'app.snapshot': query(none),
  'app.status': query(none),
  'proxy.start': command(none),
  'proxy.stop': command(none),
  'proxy.bypass': command(z.object({ on: z.boolean() })),
  'proxy.endpoints': query(none),
  'turns.list': query(
    z.object({ ...paging, sessionId: z.string().optional(), kind: z.enum(['main', 'side']).optional() }),
  ),
  'turns.get': query(id),
  'turns.histogram': query(z.object({ day: day.optional() })),
  'usage.summary': query(
    z.object({
      from: day.optional(),
      to: day.optional(),
      by: z.enum(['day', 'model', 'purpose', 'agent']).default('day'),
    }),
  ),
  'sessions.list': query(z.object(paging)),
  'sessions.cache': query(id),
  'sessions.end': command(id),
  /** What the user says of a turn; null takes it back. */
  'feedback.set': command(
    z.object({
      turnId: z.string().min(1).max(200),
      label: z.enum(['good', 'bad']).nullable(),
      text: z.string().max(20_000).optional(),
    }),
  ),
  'skills.list': query(none),
  'skills.get': query(z.object({ name: z.string() })),
  'skills.setEnabled': command(z.object({ name: z.string(), enabled: z.boolean() })),
  /** Adds a whole SKILL.md; its name is the file's own. */
  'skills.add': command(z.object({ content: skillText })),
  /** `base` is the hash of the text that was changed; another one there is a CONFLICT. */
  'skills.edit': command(skill.extend({ content: skillText, base: z.string().optional() })),
  'skills.remove': command(skill),
  'skills.lock': command(skill.extend({ locked: z.boolean() })),
  'skills.setScope': command(
    skill.extend({
      agents: z.array(z.string().max(200)).max(100),
      projects: z.array(z.string().max(500)).max(100),
    }),
  ),
  'skills.history': query(skill),
  'skills.version': query(skill.extend({ version: z.number().int().min(1) })),
  'skills.restore': command(skill.extend({ version: z.number().int().min(1) })),
  /** Paths on the engine's computer, absolute. */
  'skills.import': command(z.object({ path: z.string().min(1).max(4096) })),
  'skills.export': command(
    z.object({ names: z.array(z.string()).max(10_000).default([]), to: z.string().min(1).max(4096) }),
  ),
  /** What is wrong with a text before it is saved; `name` is the one that it has to keep. */
  'skills.check': query(z.object({ content: z.string().max(500_000), name: z.string().optional() })),
  /** How a text would do as a skill on what users asked last; nothing is kept of it. */
  'skills.tryOn': query(
    z.object({ content: skillText, limit: z.number().int().min(1).max(100).default(20) }),
  ),
  'skills.bank': query(none),
  'skills.takeFromBank': command(skill),
  /** The bank's newer text is not wanted: it is not shown again until there is another one. */
  'skills.keepMine': command(skill),
  'skills.overlaps': query(none),
  'skills.log': query(z.object({ limit: z.number().int().min(1).max(500).default(50) })),
  'skills.search': query(z.object({ text: z.string().max(20_000) })),
  'memory.stats': query(none),
  'memory.list': query(
    z.object({
      ...memoryFilter,
      sort: z.enum(['newest', 'oldest', 'used']).default('newest'),
      limit: z.number().int().min(1).max(1000).default(100),
      /** `next` of the page before. */
      after: z.string().max(200).optional(),
    }),
  ),
  'memory.facets': query(z.object({ text: z.string().max(20_000).default('') })),
  'memory.scopes': query(none),
  /** As a turn of that scope would find it. */
  'memory.search': query(
    z.object({
      text: z.string().max(20_000),
      scope: scope.optional(),
      limit: z.number().int().min(1).max(200).default(20),
      /** Also what was said, word for word. */
      turns: z.boolean().default(true),
    }),
  ),
  'memory.get': query(id),
  /** The memories, in any state, whose ids begin so; at most ten. */
  'memory.find': query(z.object({ prefix: z.string().regex(/^[0-9a-f-]{1,36}$/i, 'is no id') })),
  'memory.add': command(
    z.object({
      content: memoryText,
      kind: memoryKind.default('semantic'),
      scope: scope.optional(),
      pinned: z.boolean().default(false),
      /** Decides between equally relevant memories. */
      importance: z.number().min(0).max(1).optional(),
      tags: z.array(z.string().max(100)).max(50).default([]),
      /** ISO time after which it is no longer used. */
      expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
    }),
  ),
  'memory.edit': command(
    id.extend({
      content: memoryText.optional(),
      kind: memoryKind.optional(),
      scope: scope.optional(),
      tags: z.array(z.string().max(100)).max(50).optional(),
      expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
      /** `updatedAt` of the memory that was changed; another one there is a CONFLICT. */
      base: z.string().optional(),
    }),
  ),
  'memory.pin': command(ids.extend({ pinned: z.boolean() })),
  /** Memories, or what was said (`t` and a number). Out of use at once; recoverable for a day unless `now`. */
  'memory.forget': command(ids.extend({ now: z.boolean().default(false) })),
  /** All that was remembered of a conversation, and what was said in it. */
  'memory.forgetSession': command(
    z.object({ sessionId: z.string().min(1).max(200), now: z.boolean().default(false) }),
  ),
  /** Memories and messages by id, or all that can still be brought back. */
  'memory.restore': command(
    z
      .object({
        ids: z.array(z.string().min(1).max(200)).max(10_000).default([]),
        all: z.boolean().default(false),
      })
      .refine(({ ids: named, all }) => all || named.length > 0, 'name some, or say all'),
  ),
  /** The memories become one, of `content`; they stay as superseded. */
  'memory.merge': command(ids.extend({ content: memoryText })),
  'memory.conflicts': query(none),
  /** `one` or `other`: that one holds and supersedes; `both`: they do not contradict, do not ask again. */
  'memory.settle': command(id.extend({ keep: z.enum(['one', 'other', 'both']) })),
  'memory.consolidate': command(z.object({ dryRun: z.boolean().default(false) })),
  /** Paths on the engine's computer, absolute. `original`: the memory.db of the original. */
  'memory.import': command(
    z.object({
      path: z.string().min(1).max(4096),
      format: z.enum(['auto', 'original', 'mem0', 'jsonl', 'markdown']).default('auto'),
      scope: scope.optional(),
      dryRun: z.boolean().default(false),
    }),
  ),
  'memory.export': command(
    z.object({ to: z.string().min(1).max(4096), format: z.enum(['jsonl', 'markdown']).default('jsonl') }),
  ),
  /** Everything of one scope, or of all when there is none. */
  /** Answers as the original's sidecar does until `memory.unserve`; what is left out is as configured. */
  'memory.serve': command(
    z.object({
      host: z.string().min(1).max(255).optional(),
      port: z.number().int().min(0).max(65_535).optional(),
      scope: z.string().max(1000).optional(),
      key: z.string().max(10_000).optional(),
    }),
  ),
  /** Ends what `memory.serve` began; what the configuration asks for goes on. */
  'memory.unserve': command(none),
  'memory.sidecar': query(none),
  /** Replays the user's cases, or those of a file (an absolute path on the engine's computer). Writes nothing. */
  'memory.eval': query(z.object({ cases: z.string().min(1).max(4096).nullable().default(null) })),
  'memory.adaptive': query(none),
  /** Looks at the user's cases now, as is done now and then when `memory.adaptive` is on. */
  'memory.adapt': command(none),
  'memory.undoAdoption': command(z.object({ id: z.number().int().min(1) })),
  'memory.wipe': command(z.object({ scope: scope.optional(), now: z.boolean().default(false) })),
  'proposals.list': query(
    z.object({ state: z.enum(['waiting', 'accepted', 'rejected', 'undone']).optional() }),
  ),
  'proposals.get': query(id),
  'proposals.accept': command(
    id.extend({
      /** Changed text, when the user edited it first. */
      edit: z
        .object({ name: z.string(), description: z.string(), category: z.string(), body: z.string() })
        .optional(),
      /** For edits: `edit.hash` of the proposal as it was shown; another text there by now is a CONFLICT. */
      base: z.string().optional(),
      /** Needed to accept a proposal with safety findings. */
      despiteFindings: z.boolean().default(false),
    }),
  ),
  'proposals.reject': command(id.extend({ reason: z.string().max(2000).default('') })),
  'agents.list': query(none),
  'agents.plan': query(agent),
  /** `hash` of the plan that was looked at; other settings by now are a CONFLICT. */
  'agents.connect': command(agent.extend({ hash: z.string().max(100).optional() })),
  'agents.disconnect': command(agent),
  /** Waits for a request of the agent, at most so many seconds. */
  'agents.verify': query(agent.extend({ seconds: z.number().min(0).max(600).default(0) })),
  'undo.apply': command(z.object({ token: z.string() })),
  'config.list': query(none),
  'config.get': query(z.object({ path: z.string() })),
  'config.set': command(z.object({ path: z.string(), value: z.unknown() })),
  'config.unset': command(z.object({ path: z.string() })),
  'config.problems': query(none),
  'secrets.list': query(none),
  'secrets.set': command(z.object({ name: z.string(), value: z.string().min(1).max(10_000) })),
  'secrets.clear': command(z.object({ name: z.string() })),
  'quirks.list': query(none),
  /** Of a host's models, or of one; without both: of all. */
  'quirks.forget': command(
    z.object({ host: z.string().min(1).max(300).optional(), model: z.string().max(300).optional() }),
  ),
  'setup.presets': query(none),
  'setup.detectLocal': query(none),
  'setup.programs': query(none),
  'setup.testProvider': query(provider),
  'setup.saveProvider': command(provider),
  'setup.finish': command(
    z.object({
      mode: z.enum(['skills_only', 'rl', 'madmax']).optional(),
      autoAccept: z.enum(['safe', 'ask', 'always']).optional(),
      memory: z.boolean().optional(),
      recordBodies: z.boolean().optional(),
      proxyKey: z.boolean().optional(),
    }),
  ),
  'setup.state': query(none),
  'doctor.run': query(none),
  'demo.start': command(none),
  'host.quit': command(none),
} as const;

export type RouteName = keyof typeof ROUTES;
/** What a caller passes. */
export type RouteInput<R extends RouteName> = z.input<(typeof ROUTES)[R]['input']>;
/** What a handler receives. */
export type RouteParsed<R extends RouteName> = z.output<(typeof ROUTES)[R]['input']>;

interface RouteOutputs {
  'app.snapshot': Snapshot;
  'app.status': Status;
  'proxy.start': { host: string; port: number };
  'proxy.stop': null;
  'proxy.bypass': { on: boolean };
  'proxy.endpoints': { openai: string; anthropic: string; model: string; keySet: boolean; curl: string };
  'turns.list': { turns: TurnSummary[]; next: string | null };
  /** `costUsd`: null when it is not known. `prefix`: null for turns that carry nothing. */
  'turns.get': TurnDetail & {
    costUsd: number | null;
    feedback: TurnFeedback | null;
    prefix: PrefixState | null;
  };
  /** Turns per hour of one local day, 24 numbers. */
  'turns.histogram': { day: string; hours: number[] };
  /** The last seven days unless `from` and `to` say otherwise. */
  'usage.summary': UsageSummary;
  /** Those with main turns, the last used first. */
  'sessions.list': { sessions: SessionSummary[]; next: string | null };
  /** What the provider's prompt cache gave, turn by turn, and whether what was added kept it whole. */
  'sessions.cache': SessionCache;
  'sessions.end': null;
  'feedback.set': { turnId: string; sessionId: string };
  /** `matching`: how skills are found, in words; e.g. why not by meaning. */
  'skills.list': { skills: SkillSummary[]; problems: SkillProblem[]; matching: string };
  'skills.get': SkillDetail;
  'skills.setEnabled': { undo: Undo };
  'skills.add': { name: string; undo: Undo };
  'skills.edit': { version: number; hash: string; undo: Undo };
  'skills.remove': { undo: Undo };
  'skills.lock': { undo: Undo };
  'skills.setScope': { undo: Undo };
  /** Newest first. */
  'skills.history': SkillVersion[];
  /** The whole file as it was. */
  'skills.version': { content: string };
  'skills.restore': { version: number; undo: Undo };
  'skills.import': { added: string[]; skipped: { path: string; reason: string }[] };
  'skills.export': { exported: string[]; skipped: { path: string; reason: string }[] };
  /** `problem` keeps it from being saved, `remarks` do not. `lines`: where they stand, from 1; the problem's first. */
  'skills.check': { problem: string | null; remarks: string[]; lines: number[]; tokens: number };
  /** The newest turn first. */
  'skills.tryOn': TriedTurn[];
  /** Newer texts of the bank for built-in skills that were edited, as unified diffs. */
  'skills.bank': { name: string; diff: string }[];
  'skills.takeFromBank': { undo: Undo };
  'skills.keepMine': null;
  /** Skills that get in each other's way: a phrase that two claim, or nearly the same text. */
  'skills.overlaps': { name: string; other: string; message: string }[];
  'skills.log': SkillVersion[];
  'skills.search': { name: string; score: number; reason: string; entered: boolean }[];
  'memory.stats': MemoryStats;
  /**
   * With `text`, the best first; `total` counts all that the filters let through. `why`: what found a memory, by its
   * id; empty without `text`.
   */
  'memory.list': { units: MemoryUnit[]; total: number; next: string | null; why: Record<string, string> };
  'memory.facets': MemoryFacets;
  'memory.scopes': { scope: MemoryScope; units: number; turns: number }[];
  'memory.search': MemoryHit[];
  'memory.get': MemoryDetail;
  'memory.find': string[];
  /** `merged`: it said what a memory said already, which is that one now. */
  'memory.add': { id: string; merged: boolean; superseded: string[]; undo: Undo };
  'memory.edit': { undo: Undo };
  'memory.pin': { undo: Undo };
  /**
   * `undo`: null when it was purged; `purged` then counts the deleted rows. `note`: where trained weights may still
   * keep it; null otherwise.
   */
  'memory.forget': {
    forgotten: number;
    undo: Undo | null;
    note: string | null;
    purged: { units: number; messages: number } | null;
  };
  'memory.forgetSession': { forgotten: number; turns: number; undo: Undo | null };
  /** `turns`: messages that nothing else is told of, such as those of a forgotten conversation. */
  'memory.restore': { restored: number; turns: number };
  'memory.merge': { id: string; undo: Undo };
  'memory.conflicts': MemoryConflict[];
  'memory.settle': { undo: Undo };
  /** `undo`: null when nothing was changed. */
  'memory.consolidate': { superseded: number; expired: number; conflicts: number; undo: Undo | null };
  'memory.import': {
    added: number;
    merged: number;
    turns: number;
    skipped: { line: string; reason: string }[];
    /** Null when nothing was added. */
    undo: Undo | null;
  };
  'memory.export': { units: number; turns: number };
  /** `already`: it was served there before. */
  'memory.serve': { host: string; port: number; already: boolean };
  'memory.unserve': null;
  /** `failure`: why it is not served although the configuration asks for it. */
  'memory.sidecar': { address: { host: string; port: number } | null; failure: string | null };
  'memory.eval': MemoryEval;
  'memory.adaptive': Adaptive;
  /** `what`: what came of it, in words. */
  'memory.adapt': { what: string };
  'memory.undoAdoption': null;
  'memory.wipe': { forgotten: number; turns: number; undo: Undo | null };
  'proposals.list': SkillProposal[];
  'proposals.get': SkillProposal;
  'proposals.accept': { skill: string; undo: Undo };
  'proposals.reject': { undo: Undo };
  /** Those on this computer first. */
  'agents.list': AgentSummary[];
  'agents.plan': AgentPlan;
  'agents.connect': AgentSummary;
  /** Files that were put back, and places that somebody changed since and that stay. */
  'agents.disconnect': { restored: string[]; kept: string[] };
  'agents.verify': AgentVerification;
  'undo.apply': null;
  'config.list': ConfigEntry[];
  'config.get': ConfigEntry;
  'config.set': ConfigEntry;
  'config.unset': ConfigEntry;
  'config.problems': ConfigProblem[];
  /** Names only: of config keys, and `auth.<provider>.key|token`. `detail` says where they are kept. */
  'secrets.list': { names: string[]; kind: 'keychain' | 'file'; detail: string };
  'secrets.set': { isSet: true };
  'secrets.clear': { isSet: false };
  /** The newest first. */
  'quirks.list': LearnedQuirk[];
  /** Of how many models. */
  'quirks.forget': { forgotten: number };
  'setup.presets': ProviderPreset[];
  'setup.detectLocal': LocalServer[];
  'setup.programs': VendorProgram[];
  'setup.testProvider': ProviderTest;
  'setup.saveProvider': null;
  'setup.finish': null;
  'setup.state': { done: boolean; providerSet: boolean; hasTurns: boolean };
  'doctor.run': DoctorCheck[];
  /** Runs in the background; progress arrives as `demo` events. */
  'demo.start': null;
  'host.quit': null;
}
export type RouteOutput<R extends RouteName> = RouteOutputs[R];

/** Events that are pushed to screens and to `GET /control/events`. */
export interface Events {
  snapshot: Snapshot;
  invalidate: {
    topic: 'turns' | 'sessions' | 'skills' | 'memory' | 'proposals' | 'config' | 'jobs' | 'usage' | 'agents';
  };
  demo: DemoEvent;
}
export type EventName = keyof Events;

export type Reply<T> = { ok: true; data: T } | { ok: false; error: ErrorJson };

/** One way to call the engine, whatever the transport. Rejects with AppError. */
export type Call = <R extends RouteName>(route: R, input: RouteInput<R>) => Promise<RouteOutput<R>>;
