import { z } from 'zod';
import type { Undo } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { ProposalState, ProposedEdit, SkillProposal } from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { UndoLog } from '../store/undo.ts';
import type { Known, LiveSkill } from './evolve.ts';
import { mergeText } from './merge.ts';
import { Proposals, type StoredProposal } from './proposals.ts';
import { newFindings, scanSkill } from './safety.ts';

/** What is needed to take a change of a skill's text back. */
interface TextChange {
  name: string;
  folder: string;
  before: string | null;
  after: string | null;
  trashed: string | null;
}

interface SkillText {
  description: string;
  body: string;
}

/** Who makes a version of a skill. */
interface Authorship {
  author: 'learned';
  proposal: string;
  note?: string;
}

/** What the learner needs of the skill library. */
export interface Library {
  /** Live skills; `proposal` is the accepted proposal that a file came from, `editedBy` that of its newest text. */
  texts(): readonly (LiveSkill & { proposal: string | null; editedBy: string | null })[];
  /** Writes a whole new skill or nothing; CONFLICT when the name is taken. */
  add(
    draft: Pick<StoredProposal, 'name' | 'description' | 'category' | 'triggers' | 'body'> & {
      metadata: Readonly<Record<string, string>>;
    },
    by: Authorship,
  ): void;
  /** Puts a new description and body into a skill's file. CONFLICT when the file changed, FORBIDDEN when locked. */
  rewrite(name: string, to: SkillText, by: Authorship): TextChange;
  /** CONFLICT when the text is no longer the one that the change made. */
  takeBack(change: TextChange): void;
  /** Moves a skill into the trash. */
  remove(name: string): unknown;
  /** A text that a skill had, by the hash of its file; null when it is not known. */
  textOf(hash: string): SkillText | null;
}

export interface DecisionsDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  undo: UndoLog;
  skills: Library;
}

export interface AcceptOptions {
  /** Changed text, when the user edited it first. */
  edit?: Pick<SkillProposal, 'name' | 'description' | 'category' | 'body'> | undefined;
  /** For edits: hash of the skill's file that was looked at. */
  base?: string | undefined;
  despiteFindings?: boolean;
}

const UNDO_ACCEPT = 'proposal.accept';
const UNDO_REJECT = 'proposal.reject';

const storedText = z.object({
  name: z.string(),
  description: z.string(),
  category: z.string(),
  body: z.string(),
});
const textChange = z.object({
  name: z.string(),
  folder: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  trashed: z.string().nullable(),
});
const acceptance = z.object({
  id: z.string(),
  before: storedText,
  change: textChange.nullable().default(null),
});

/** What becomes of proposals: they wait, go live, are refused, and each decision can be taken back. */
export class Decisions {
  readonly #deps: DecisionsDeps;
  readonly #proposals: Proposals;

  constructor(deps: DecisionsDeps) {
    this.#deps = deps;
    this.#proposals = new Proposals(deps.database);
    deps.undo.handle(UNDO_ACCEPT, (payload) => this.#undoAccept(payload));
    deps.undo.handle(UNDO_REJECT, (payload) => this.#undoReject(payload));
  }

  /** Marks what a crash left between a skill's file and its proposal. The library must be loaded. */
  repair(): void {
    const texts = this.#deps.skills.texts();
    const live = new Set(texts.flatMap(({ proposal, editedBy }) => [proposal, editedBy]));
    for (const proposal of this.#proposals.list('waiting')) {
      if (proposal.auto) this.acceptByItself(proposal);
      else if (live.has(proposal.id)) this.#goLive(proposal, proposal);
    }
  }

  /** Stores a new proposal. */
  put(proposal: StoredProposal, jobId: string): void {
    this.#proposals.put(proposal, jobId);
  }

  countWaiting(): number {
    return this.#proposals.countWaiting();
  }

  /** Newest first. */
  list(state?: ProposalState): SkillProposal[] {
    const live = new Map(this.#deps.skills.texts().map((skill) => [skill.name, skill]));
    return this.#proposals.list(state).map((proposal) => this.#shown(proposal, live.get(proposal.name)));
  }

  /** NOT_FOUND when there is no such proposal. */
  get(id: string): SkillProposal {
    const proposal = this.#need(id);
    return this.#shown(proposal, this.#liveOf(proposal.name));
  }

  /** Everything that a suggestion must not repeat: the library, what waits, what was refused, what was removed. */
  known(): Known {
    const live = this.#deps.skills.texts();
    const ids = new Set(live.map(({ proposal }) => proposal));
    const past = this.#proposals
      .list()
      .filter(({ id, kind, state }) => !ids.has(id) && (kind === 'new' || state !== 'accepted'))
      .map((proposal) => ({
        ...proposal,
        refused: proposal.state === 'rejected' || proposal.state === 'undone',
        base: proposal.baseHash === null ? null : (this.#deps.skills.textOf(proposal.baseHash)?.body ?? null),
      }));
    return { live, past };
  }

  /**
   * Makes a waiting proposal live: a new skill, or a new text of one. CONFLICT when it does not wait, its name is taken,
   * or the skill's text is not the one that was looked at; FORBIDDEN when the scan found something and
   * `despiteFindings` is not set, or the skill is locked.
   */
  accept(id: string, options: AcceptOptions = {}): { skill: string; undo: Undo } {
    const proposal = this.#waiting(id);
    const { edit } = this.#shown(proposal, this.#liveOf(proposal.name));
    if (edit) checkBase(proposal, edit, options);
    const shown = this.get(id);
    const next: StoredProposal = {
      ...proposal,
      description: shown.description,
      body: shown.body,
      ...options.edit,
      auto: false,
    };
    const findings = newFindings(scanSkill(next), edit ? { ...next, ...edit.base } : null);
    if (findings.length > 0 && options.despiteFindings !== true)
      throw new AppError(
        'FORBIDDEN',
        `The safety scan found: ${findings.map(({ message }) => message).join(' ')}`,
        {
          hint: 'Read the proposal, edit it, or accept it in spite of the findings.',
        },
      );
    return this.#goLive(proposal, { ...next, findings }, options.edit !== undefined);
  }

  /** Refuses a waiting proposal, for good: the same lesson is not proposed again. Takes an accepted one back. */
  reject(id: string, reason = ''): { undo: Undo } {
    const before = this.#need(id);
    if (before.state === 'rejected' || before.state === 'undone')
      throw new AppError('CONFLICT', `The proposal ${before.name} was refused already.`);
    const { database, undo } = this.#deps;
    return database.tx(() => {
      if (before.state === 'accepted') this.#takeOut(before);
      this.#decide({
        ...before,
        state: before.state === 'accepted' ? 'undone' : 'rejected',
        verdict: reason,
      });
      return { undo: undo.offer(UNDO_REJECT, `Refused: ${before.name}`, { id, state: before.state }) };
    });
  }

  /** Under `auto_accept`; a name that was taken meanwhile leaves the proposal waiting for a person. */
  acceptByItself(proposal: StoredProposal): void {
    try {
      this.#goLive(proposal, proposal);
    } catch (error) {
      this.#deps.log.warn({ err: error, skill: proposal.name }, 'a proposal could not be accepted by itself');
      this.#proposals.put({ ...proposal, auto: false });
    }
  }

  /**
   * Writes the file, then marks the proposal. A crash in between leaves a skill that names its proposal, in its file or
   * its newest version, which the next start finds and marks.
   */
  #goLive(before: StoredProposal, next: StoredProposal, isEdited = false): { skill: string; undo: Undo } {
    const { database, undo } = this.#deps;
    const by: Authorship = {
      author: 'learned',
      proposal: next.id,
      ...(isEdited ? { note: 'Edited before it was accepted' } : {}),
    };
    const { name, change } = next.kind === 'edit' ? this.#writeEdit(next, by) : this.#writeNew(next, by);
    return database.tx(() => {
      this.#decide({ ...next, name, state: 'accepted', baseHash: change?.before ?? next.baseHash });
      const { description, category, body } = before;
      const payload = { id: next.id, before: { name: before.name, description, category, body }, change };
      const label = next.kind === 'edit' ? `Changed: ${name}` : `Added: ${name}`;
      return { skill: name, undo: undo.offer(UNDO_ACCEPT, label, payload) };
    });
  }

  #writeNew(next: StoredProposal, by: Authorship): { name: string; change: null } {
    const { skills } = this.#deps;
    const written = skills.texts().find(({ proposal }) => proposal === next.id);
    const [first] = next.evidence;
    if (!written)
      skills.add(
        {
          name: next.name,
          description: next.description,
          category: next.category,
          triggers: next.triggers,
          metadata: { source: 'learned', proposal: next.id, ...(first ? { session: first.sessionId } : {}) },
          body: next.body,
        },
        by,
      );
    return { name: written?.name ?? next.name, change: null };
  }

  #writeEdit(
    { id, name, description, body }: StoredProposal,
    by: Authorship,
  ): { name: string; change: TextChange | null } {
    const written = this.#liveOf(name)?.editedBy === id;
    return { name, change: written ? null : this.#deps.skills.rewrite(name, { description, body }, by) };
  }

  /** Nobody had decided on what went live by itself, so its undo is a refusal; a decision of the user is reopened. */
  #undoAccept(payload: unknown): void {
    const { id, before, change } = acceptance.parse(payload);
    const proposal = this.#need(id);
    if (proposal.state !== 'accepted')
      throw new AppError('CONFLICT', 'The proposal has been decided again since.');
    if (change) this.#deps.skills.takeBack(change);
    else this.#takeOut(proposal);
    this.#decide(
      proposal.auto ? { ...proposal, state: 'undone' } : { ...proposal, ...before, state: 'waiting' },
    );
  }

  #undoReject(payload: unknown): void {
    const { id, state } = z.object({ id: z.string(), state: z.enum(['waiting', 'accepted']) }).parse(payload);
    const proposal = this.#need(id);
    if (proposal.state !== 'rejected' && proposal.state !== 'undone')
      throw new AppError('CONFLICT', 'The proposal has been decided again since.');
    const waiting: StoredProposal = { ...proposal, state: 'waiting', verdict: '' };
    this.#decide(waiting);
    if (state === 'accepted') this.#goLive(waiting, waiting);
  }

  /** Takes what an accepted proposal brought out of the library again. */
  #takeOut(proposal: StoredProposal): void {
    const { skills } = this.#deps;
    const texts = skills.texts();
    if (proposal.kind === 'new') {
      const live = texts.find((skill) => skill.proposal === proposal.id);
      if (live) skills.remove(live.name);
      return;
    }
    const live = texts.find(({ name }) => name === proposal.name);
    const earlier = proposal.baseHash === null ? null : skills.textOf(proposal.baseHash);
    if (!live || live.editedBy !== proposal.id || !earlier)
      throw new AppError('CONFLICT', `The skill ${proposal.name} has been changed since.`, {
        hint: `See metaclaw skills history ${proposal.name}.`,
      });
    skills.takeBack({
      name: live.name,
      folder: '',
      before: proposal.baseHash,
      after: live.hash,
      trashed: null,
    });
  }

  /** A proposal as a person sees it: an edit that waits, brought up to what its skill says now. */
  #shown(proposal: StoredProposal, live: LiveSkill | undefined): SkillProposal {
    const { baseHash, triggers: _triggers, verdict: _verdict, ...rest } = proposal;
    if (proposal.kind === 'new') return { ...rest, edit: null };
    const base = (baseHash === null ? null : this.#deps.skills.textOf(baseHash)) ?? {
      description: '',
      body: '',
    };
    if (proposal.state !== 'waiting')
      return { ...rest, edit: { base: textOf(base), hash: baseHash, state: 'fresh' } };
    if (!live) return { ...rest, edit: { base: textOf(base), hash: null, state: 'gone' } };
    const { hash } = live;
    if (hash === baseHash) return { ...rest, edit: { base: textOf(live), hash, state: 'fresh' } };
    const description = mergeText(base.description, proposal.description, live.description);
    const body = mergeText(base.body, proposal.body, live.body);
    if (description === null || body === null)
      return { ...rest, edit: { base: textOf(live), hash, state: 'conflict' } };
    return { ...rest, description, body, edit: { base: textOf(live), hash, state: 'merged' } };
  }

  #liveOf(name: string): ReturnType<Library['texts']>[number] | undefined {
    return this.#deps.skills.texts().find((skill) => skill.name === name);
  }

  #decide(proposal: StoredProposal): void {
    const waits = proposal.state === 'waiting';
    this.#proposals.put({
      ...proposal,
      decidedAt: waits ? null : new Date(this.#deps.clock.now()).toISOString(),
    });
    this.#deps.bus.emit('invalidate', 'proposals');
  }

  #need(id: string): StoredProposal {
    const proposal = this.#proposals.get(id);
    if (!proposal) throw new AppError('NOT_FOUND', `There is no proposal ${JSON.stringify(id)}.`);
    return proposal;
  }

  #waiting(id: string): StoredProposal {
    const proposal = this.#need(id);
    if (proposal.state !== 'waiting')
      throw new AppError('CONFLICT', `The proposal ${proposal.name} is ${proposal.state} already.`);
    return proposal;
  }
}

/** Throws what keeps an edit from being accepted: its skill is gone, or says something that nobody looked at. */
function checkBase({ name }: StoredProposal, edit: ProposedEdit, { edit: text, base }: AcceptOptions): void {
  if (edit.state === 'gone')
    throw new AppError('CONFLICT', `There is no skill named ${name} any more.`, {
      hint: `Bring it back with metaclaw skills restore ${name}, or reject the proposal.`,
    });
  if (base !== undefined && base !== edit.hash)
    throw new AppError('CONFLICT', `The skill ${name} has been changed since the proposal was shown.`, {
      hint: 'Look at the proposal again.',
      field: 'base',
    });
  if (edit.state === 'conflict' && text === undefined)
    throw new AppError('CONFLICT', `The skill ${name} has been changed in the same place since.`, {
      hint: 'Open the proposal in the window and write the text that shall stand.',
    });
  if (text !== undefined && text.name !== name)
    throw new AppError('BAD_INPUT', 'An edit keeps the name of its skill.', { field: 'name' });
}

function textOf({ description, body }: SkillText): SkillText {
  return { description, body };
}
