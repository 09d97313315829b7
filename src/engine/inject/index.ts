import type { InjectedItem, InjectionReport, LeftOutItem } from '../../shared/model.ts';
import {
  type Candidate,
  costOf,
  createBlock,
  FRAME_TOKENS,
  type InjectedBlock,
  itemsOf,
  type Kinds,
  only,
  textOf,
  tokensOf,
} from './blocks.ts';

export type { Candidate, Kinds } from './blocks.ts';

/** Where a message block stands: the message's position among non-system messages and its hash. */
interface MessageAnchor {
  index: number;
  digest: string;
}

/**
 * All that was added to a session so far. `system` is decided on the first injected turn and never changes
 * (`undefined`: not yet decided, `null`: decided to be empty), so the provider's prompt cache stays whole.
 */
export interface SessionInjection {
  system?: InjectedBlock | null;
  messages: (InjectedBlock & { anchor: MessageAnchor })[];
  /** The user's words that were looked at last: the same request again gets the same bytes. */
  last?: MessageAnchor;
}

/** What to change in the request that goes upstream. */
export interface InjectionPlan {
  /** Text to append to the client's system part (a blank line before it), or null. */
  system: string | null;
  /** Text to put before the user's words of a message; `index` counts non-system messages from 0. */
  messages: { index: number; text: string }[];
  report: InjectionReport;
  /** The session's injection after this turn. */
  injection: SessionInjection;
}

/** The turn as far as placement depends on it. */
export interface TurnView {
  /** Position among non-system messages of the user's newest words; -1 when there are none. */
  readonly userIndex: number;
  /** An answer stands in the history: an earlier request went out without our system block. */
  readonly hasAssistant: boolean;
  /** Hash of the non-system message at a position; undefined where there is none. Costs that message alone. */
  digestAt(index: number): string | undefined;
  /** Hashes of all of them; asked for only when a message block stands no longer where it stood. */
  digests(): readonly string[];
  /** The client's own system text; read only when there is something to add. */
  readonly systemText: string;
}

export interface Limits {
  /** Most tokens of skills that the session may carry. */
  skillTokens: number;
  /** Most memories, and most tokens of them, that this turn may add. */
  memoryUnits: number;
  memoryTokens: number;
  /** Tokens left in the model's window for this turn. */
  roomTokens: number;
}

/** A session carries at most so many times what one turn may add of memories. */
const MEMORY_TURNS = 4;
const BOTH: Kinds = { skills: true, memories: true };

/** Reasons after which the session's blocks still stand, so that the provider's cache stays whole. */
const STILL_CARRIES: readonly InjectionReport['skipped'][] = ['deadline', 'error', 'no-user-text'];

/** A plan that adds nothing new and says why. When the user or client switched injection off, nothing is carried. */
export function skipInjection(
  session: SessionInjection,
  view: TurnView,
  skipped: NonNullable<InjectionReport['skipped']>,
  kinds: Kinds = BOTH,
): InjectionPlan {
  if (STILL_CARRIES.includes(skipped)) {
    const settled =
      session.system === undefined && view.hasAssistant ? { ...session, system: null } : session;
    return assemble(settled, view, { leftOut: [], skipped, kinds });
  }
  return {
    system: null,
    messages: [],
    report: { items: [], leftOut: [], tokens: 0, skipped },
    injection: session,
  };
}

/** Whether the user's newest words were looked at before: the client sends the same request again. */
export function isRepeated(session: SessionInjection, view: TurnView): boolean {
  const { last } = session;
  return last !== undefined && last.index === view.userIndex && last.digest === view.digestAt(last.index);
}

/**
 * Decides what a turn carries. Pure and deterministic: same input, same bytes.
 *
 * A session's first skills and its pinned memories are appended to its system part and stay there unchanged. Other
 * memories, and what becomes relevant later, stand before the user's words of the turn that needed them, and are put
 * back there on every later turn; nothing that a provider may have cached is ever rewritten.
 */
export function composeInjection(
  session: SessionInjection,
  view: TurnView,
  candidates: readonly Candidate[],
  limits: Limits,
  kinds: Kinds = BOTH,
): InjectionPlan {
  const { chosen, leftOut } = choose(session, view, candidates, limits, kinds);
  const isFirst = session.system === undefined && !view.hasAssistant;
  const inSystem = chosen.filter(({ kind, pinned }) => isFirst && (kind === 'skill' || pinned));
  const inMessage = chosen.filter((candidate) => !inSystem.includes(candidate));
  const system = inSystem.length > 0 ? createBlock(inSystem, 'system') : (session.system ?? null);
  const rest = { leftOut, skipped: null, kinds };
  const digest = view.userIndex < 0 ? undefined : view.digestAt(view.userIndex);
  if (digest === undefined) return assemble({ ...session, system }, view, rest);
  // A retried request has its block already: the digest of a message covers the client's words only.
  const anchor = { index: view.userIndex, digest };
  const blocks = inMessage.length > 0 ? [{ ...createBlock(inMessage, 'message'), anchor }] : [];
  return assemble(
    { ...session, system, messages: [...session.messages, ...blocks], last: anchor },
    view,
    rest,
  );
}

/** What of the candidates enters: not twice, within the budgets of both kinds and the room that is left. */
function choose(
  session: SessionInjection,
  view: TurnView,
  candidates: readonly Candidate[],
  limits: Limits,
  kinds: Kinds,
): { chosen: Candidate[]; leftOut: LeftOutItem[] } {
  const leftOut: LeftOutItem[] = [];
  const chosen: Candidate[] = [];
  const present = presentBlocks(session, view, kinds);
  const carried = new Set(present.flatMap((block) => itemsOf(block).map(keyOf)));
  const spent = { skill: 0, memory: 0 };
  for (const block of present) {
    const tokens = tokensOf(block);
    spent.skill += tokens.skill;
    spent.memory += tokens.memory;
  }
  let room = limits.roomTokens - spent.skill - spent.memory;
  const isRepeat = isRepeated(session, view);
  const take = (kind: Candidate['kind'], most: { tokens: number; room: number; items: number }) => {
    let used = FRAME_TOKENS[kind];
    let items = 0;
    const against = (candidate: Candidate): LeftOutItem['reason'] | null => {
      if (carried.has(keyOf(candidate))) return 'already-in-session';
      if (kind === 'skill' && clientHasSkill(view.systemText, candidate.id))
        return 'same-name-as-client-skill';
      const total = used + costOf(candidate);
      if (total > most.room) return 'no-room';
      if (total > most.tokens || items >= most.items) return 'budget';
      return candidate.withheld ? 'holdout' : null;
    };
    for (const candidate of candidates) {
      if (candidate.kind !== kind) continue;
      const reason = against(candidate);
      if (reason !== null) leftOut.push({ kind, id: candidate.id, reason });
      else if (!isRepeat) {
        used += costOf(candidate);
        items += 1;
        chosen.push(candidate);
      }
    }
    if (items > 0) room -= used;
  };
  // Where the window is nearly full, neither kind takes it all.
  const share = candidates.some(({ kind }) => kind === 'memory') ? room / 2 : room;
  const skillTokens = limits.skillTokens - spent.skill;
  take('skill', { tokens: skillTokens, room: Math.max(share, room - limits.memoryTokens), items: Infinity });
  const memoryTokens = Math.min(limits.memoryTokens, MEMORY_TURNS * limits.memoryTokens - spent.memory);
  take('memory', { tokens: memoryTokens, room, items: limits.memoryUnits });
  return { chosen, leftOut };
}

/** Takes memories out of what a session carries, wherever they stand; null when it carries none of them. */
export function withoutMemories(
  session: SessionInjection,
  ids: ReadonlySet<string>,
): SessionInjection | null {
  let found = false;
  const purge = <Block extends InjectedBlock>(block: Block): Block => {
    const left = block.memories?.filter(({ item }) => !ids.has(item.id));
    if (left === undefined || left.length === block.memories?.length) return block;
    found = true;
    return { ...block, memories: left };
  };
  const cleaned = {
    ...session,
    ...(session.system ? { system: purge(session.system) } : {}),
    messages: session.messages.map(purge),
  };
  return found ? cleaned : null;
}

/** Turns the session's blocks into edits of this request. Blocks whose message is gone are left out of it. */
function assemble(
  session: SessionInjection,
  view: TurnView,
  rest: Pick<InjectionReport, 'leftOut' | 'skipped'> & { kinds: Kinds },
): InjectionPlan {
  const { leftOut, skipped, kinds } = rest;
  const messages: { index: number; text: string }[] = [];
  const items: InjectedItem[] = [];
  let tokens = 0;
  const add = (block: InjectedBlock) => {
    items.push(...itemsOf(block));
    const { skill, memory } = tokensOf(block);
    tokens += skill + memory;
  };
  const system = session.system ? only(kinds, session.system) : null;
  if (system) add(system);
  for (const whole of session.messages) {
    const block = only(kinds, whole);
    const index = block === null ? -1 : find(whole.anchor, view);
    if (block === null || index < 0) continue;
    add(block);
    const text = textOf(block, 'message');
    const same = messages.find((message) => message.index === index);
    if (same) same.text += text;
    else messages.push({ index, text });
  }
  return {
    system: system && textOf(system, 'system'),
    messages,
    report: { items, leftOut, tokens, skipped },
    injection: session,
  };
}

/** A client may have cut or compacted its history, so the position is only the first guess. */
function find({ index, digest }: MessageAnchor, view: TurnView): number {
  return view.digestAt(index) === digest ? index : view.digests().indexOf(digest);
}

/** Blocks that this request really carries: a message that was edited or compacted away took its block with it. */
function presentBlocks(session: SessionInjection, view: TurnView, kinds: Kinds): InjectedBlock[] {
  const inMessages = session.messages.filter((block) => find(block.anchor, view) >= 0);
  const blocks = session.system ? [session.system, ...inMessages] : inMessages;
  return blocks.flatMap((block) => only(kinds, block) ?? []);
}

function keyOf(item: { kind: string; id: string }): string {
  return `${item.kind}:${item.id}`;
}

/** The client offers a skill of that name itself (OpenClaw's and Claude Code's listings), so its own version rules. */
function clientHasSkill(systemText: string, name: string): boolean {
  return systemText.includes(`<name>${name}</name>`) || systemText.includes(`/${name}/SKILL.md`);
}
