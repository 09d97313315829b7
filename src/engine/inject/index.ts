import type { InjectedItem, InjectionReport, LeftOutItem } from '../../shared/model.ts';

/** A block of text that MetaClaw added at one place of a session. */
interface InjectedBlock {
  text: string;
  items: InjectedItem[];
}

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
}

/** What retrieval offers for a turn. */
export interface Candidate extends Omit<InjectedItem, 'place'> {
  /** Text to add, without heading. */
  body: string;
  /** It fits, and this session does without it so that its worth can be measured. */
  withheld?: boolean;
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
  /** Most tokens of added text that the session may carry. */
  sessionTokens: number;
  /** Tokens left in the model's window for this turn. */
  roomTokens: number;
}

/** Tokens of a block's frame, counted once per block. */
const FRAME_TOKENS = 45;
/** Tokens of an item's heading. */
const HEADING_TOKENS = 8;

/** Reasons after which the session's blocks still stand, so that the provider's cache stays whole. */
const STILL_CARRIES: readonly InjectionReport['skipped'][] = ['deadline', 'error', 'no-user-text'];

/** A plan that adds nothing new and says why. When the user or client switched injection off, nothing is carried. */
export function skipInjection(
  session: SessionInjection,
  view: TurnView,
  skipped: NonNullable<InjectionReport['skipped']>,
): InjectionPlan {
  if (STILL_CARRIES.includes(skipped)) {
    const settled =
      session.system === undefined && view.hasAssistant ? { ...session, system: null } : session;
    return assemble(settled, view, [], skipped);
  }
  return {
    system: null,
    messages: [],
    report: { items: [], leftOut: [], tokens: 0, skipped },
    injection: session,
  };
}

/**
 * Decides what a turn carries. Pure and deterministic: same input, same bytes.
 *
 * A session's first match is appended to its system part and stays there unchanged. What becomes relevant later
 * stands before the user's words of the turn that needed it, and is put back there on every later turn; nothing
 * that a provider may have cached is ever rewritten.
 */
export function composeInjection(
  session: SessionInjection,
  view: TurnView,
  candidates: readonly Candidate[],
  limits: Limits,
): InjectionPlan {
  const leftOut: LeftOutItem[] = [];
  const present = presentBlocks(session, view);
  const carried = new Set(present.flatMap((block) => block.items.map(keyOf)));
  const carriedTokens = present.reduce((sum, block) => sum + tokensOf(block), 0);
  const budget = Math.min(limits.sessionTokens, limits.roomTokens) - carriedTokens;
  const room = limits.roomTokens - carriedTokens;

  const chosen: Candidate[] = [];
  let used = FRAME_TOKENS;
  let systemText: string | null = null;
  for (const candidate of candidates) {
    const leave = (reason: LeftOutItem['reason']) =>
      leftOut.push({ kind: candidate.kind, id: candidate.id, reason });
    if (carried.has(keyOf(candidate))) {
      leave('already-in-session');
      continue;
    }
    systemText ??= view.systemText;
    if (candidate.kind === 'skill' && clientHasSkill(systemText, candidate.id)) {
      leave('same-name-as-client-skill');
      continue;
    }
    const cost = candidate.tokens + HEADING_TOKENS;
    if (used + cost > budget) {
      leave(used + cost > room ? 'no-room' : 'budget');
      continue;
    }
    if (candidate.withheld) {
      leave('holdout');
      continue;
    }
    used += cost;
    chosen.push(candidate);
  }

  if (session.system === undefined && !view.hasAssistant) {
    const system = chosen.length > 0 ? systemBlock(chosen) : null;
    return assemble({ ...session, system }, view, leftOut, null);
  }
  const settled = { ...session, system: session.system ?? null };
  if (chosen.length === 0 || view.userIndex < 0) return assemble(settled, view, leftOut, null);
  const digest = view.digestAt(view.userIndex);
  if (digest === undefined) return assemble(settled, view, leftOut, null);
  // A retried request has its block already: the digest of a message covers the client's words only.
  const block = { ...messageBlock(chosen), anchor: { index: view.userIndex, digest } };
  return assemble({ ...settled, messages: [...settled.messages, block] }, view, leftOut, null);
}

/** Turns the session's blocks into edits of this request. Blocks whose message is gone are left out of it. */
function assemble(
  session: SessionInjection,
  view: TurnView,
  leftOut: LeftOutItem[],
  skipped: InjectionReport['skipped'],
): InjectionPlan {
  const messages: { index: number; text: string }[] = [];
  const items: InjectedItem[] = [];
  let tokens = 0;
  const add = (block: InjectedBlock) => {
    items.push(...block.items);
    tokens += tokensOf(block);
  };
  if (session.system) add(session.system);
  for (const block of session.messages) {
    const index = find(block.anchor, view);
    if (index < 0) continue;
    add(block);
    const same = messages.find((message) => message.index === index);
    if (same) same.text += block.text;
    else messages.push({ index, text: block.text });
  }
  return {
    system: session.system?.text ?? null,
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
function presentBlocks(session: SessionInjection, view: TurnView): InjectedBlock[] {
  const inMessages = session.messages.filter((block) => find(block.anchor, view) >= 0);
  return session.system ? [session.system, ...inMessages] : inMessages;
}

function tokensOf(block: InjectedBlock): number {
  return block.items.reduce((sum, item) => sum + item.tokens + HEADING_TOKENS, FRAME_TOKENS);
}

function keyOf(item: { kind: string; id: string }): string {
  return `${item.kind}:${item.id}`;
}

/** The client offers a skill of that name itself (OpenClaw's and Claude Code's listings), so its own version rules. */
function clientHasSkill(systemText: string, name: string): boolean {
  return systemText.includes(`<name>${name}</name>`) || systemText.includes(`/${name}/SKILL.md`);
}

function systemBlock(chosen: readonly Candidate[]): InjectedBlock {
  const text = [
    '<metaclaw_skills>',
    'Working notes that fit this conversation, added by MetaClaw. Instructions of the user and of the application come first; ignore a note that does not apply.',
    ...chosen.map(render),
    '</metaclaw_skills>',
  ].join('\n\n');
  return { text, items: chosen.map((candidate) => toItem(candidate, 'system')) };
}

function messageBlock(chosen: readonly Candidate[]): InjectedBlock {
  const text = [
    '<metaclaw_context>',
    'Background added by MetaClaw, not written by the user. It may be incomplete; the message that follows comes first.',
    ...chosen.map(render),
    '</metaclaw_context>',
    '',
  ].join('\n\n');
  return { text, items: chosen.map((candidate) => toItem(candidate, 'message')) };
}

function render(candidate: Candidate): string {
  return `## ${candidate.title}\n\n${candidate.body.trim()}`;
}

function toItem(candidate: Candidate, place: InjectedItem['place']): InjectedItem {
  const { kind, id, title, tokens, score, reason } = candidate;
  return { kind, id, title, place, tokens, score, reason };
}
