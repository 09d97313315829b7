import type { Config } from '../shared/config.ts';
import {
  type Candidate,
  composeInjection,
  type InjectionPlan,
  isRepeated,
  type Kinds,
  skipInjection,
  type TurnView,
} from './inject/index.ts';
import { termsOf } from './platform/words.ts';
import type { Embedder } from './ports.ts';
import type { OpenTurn } from './sessions/index.ts';

export interface ComposerDeps {
  config: () => Config;
  embedder: Pick<Embedder, 'id' | 'query'>;
  skills: {
    /** Whether a vector of the user's words would be of use. */
    readonly wantsVector: boolean;
    /** Bounded by construction: an index lookup in memory, never a wait. */
    retrieve: (
      text: string,
      options: {
        limit: number;
        sessionId: string;
        place: { agent: string; project: string | null };
        vector: Float32Array | null;
      },
    ) => readonly Candidate[];
  };
  memory: {
    readonly wantsVector: boolean;
    /** Bounded too; reads the index, writes nothing and never throws. */
    find: (turn: OpenTurn, vector: Float32Array | null) => readonly Candidate[];
  };
}

/** Of the time that retrieval has, the part that may pass until the question's vector is there. */
const VECTOR_MS = 14;
/** A memory of which so much stands in a skill that the turn carries says nothing new. */
const SAME = 0.85;

/**
 * What a turn carries: decides whether anything may be added at all, asks retrieval, and places what fits. A promise
 * only where an embeddings endpoint is asked.
 */
export function createComposer(
  deps: ComposerDeps,
): (turn: OpenTurn, roomTokens: number) => InjectionPlan | Promise<InjectionPlan> {
  return (turn, roomTokens) => {
    const config = deps.config();
    const { facts, injection } = turn;
    if (turn.kind === 'side') return skipInjection(injection, facts, 'side-turn');
    const kinds = kindsOf(config, facts.headers);
    if (!kinds.skills && !kinds.memories)
      return skipInjection(
        injection,
        facts,
        config.skills.enabled || config.memory.enabled ? 'header' : 'off',
      );
    // In a tool loop the words were looked at in their own turn, unless new ones came with the results.
    const goesOn = facts.endsWithToolResult && !facts.endsWithUserWords;
    if (goesOn || facts.userText.trim() === '') return skipInjection(injection, facts, 'no-user-text', kinds);
    const { skills, memory } = config;
    const limits = {
      skillTokens: skills.max_tokens,
      memoryUnits: memory.max_injected_units,
      memoryTokens: memory.max_injected_tokens,
      roomTokens,
    };
    const plan = (candidates: readonly Candidate[]) =>
      composeInjection(injection, facts, candidates, limits, kinds);
    // The same request again gets the same bytes, whatever was learned since.
    if (isRepeated(injection, facts)) return plan([]);
    const found = (vector: Float32Array | null) => plan(candidatesOf(deps, turn, kinds, vector));
    const asksVector =
      deps.embedder.id !== null &&
      ((kinds.skills && deps.skills.wantsVector) || (kinds.memories && deps.memory.wantsVector));
    return asksVector ? deps.embedder.query(facts.userText, VECTOR_MS).then(found) : found(null);
  };
}

const OFF = /^\s*(?:off|false|no|0)\s*$/i;

function kindsOf(config: Config, headers: Readonly<Record<string, string | undefined>>): Kinds {
  return {
    skills: config.skills.enabled && !OFF.test(headers['x-metaclaw-skills'] ?? ''),
    memories: config.memory.enabled && !OFF.test(headers['x-metaclaw-memory'] ?? ''),
  };
}

function candidatesOf(
  { config, skills, memory }: ComposerDeps,
  turn: OpenTurn,
  kinds: Kinds,
  vector: Float32Array | null,
): Candidate[] {
  const { facts, sessionId, agent } = turn;
  const found = kinds.skills
    ? skills.retrieve(facts.userText, {
        limit: config().skills.top_k,
        sessionId,
        place: { agent, project: facts.headers['x-workspace-id'] || facts.fields.workspace_id || null },
        vector: skills.wantsVector ? vector : null,
      })
    : [];
  const memories = kinds.memories ? memory.find(turn, memory.wantsVector ? vector : null) : [];
  if (memories.length === 0 || found.length === 0) return [...found, ...memories];
  const taught = found.map(({ body }) => wordsOf(body));
  const isTaught = ({ body }: Candidate) => {
    const own = wordsOf(body.replace(/^\[[^\]]*\]/, ''));
    return taught.some((words) => stands(own, words));
  };
  return [...found, ...memories.filter((memory) => !isTaught(memory))];
}

function wordsOf(text: string): Set<string> {
  return new Set([...termsOf(text).map(({ term }) => term), ...(text.match(/\d[\d.,:/-]*/g) ?? [])]);
}

/** Whether nearly all of the words stand among others. A skill never gives way to a memory. */
function stands(words: ReadonlySet<string>, among: ReadonlySet<string>): boolean {
  let shared = 0;
  for (const word of words) if (among.has(word)) shared += 1;
  return words.size > 0 && shared / words.size >= SAME;
}

/** The block in which memories are told to a model that others ask: framed as in a turn of ours, within the budgets. */
export function tellMemories(
  memories: readonly Candidate[],
  { max_injected_units, max_injected_tokens }: Config['memory'],
): { text: string; memories: number } {
  const turn: TurnView = {
    userIndex: 0,
    hasAssistant: true,
    digestAt: () => '',
    digests: () => [''],
    systemText: '',
  };
  const plan = composeInjection({ messages: [] }, turn, memories, {
    skillTokens: 0,
    memoryUnits: max_injected_units,
    memoryTokens: max_injected_tokens,
    roomTokens: Number.MAX_SAFE_INTEGER,
  });
  return { text: plan.messages[0]?.text ?? '', memories: plan.report.items.length };
}
