import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../shared/config.ts';
import type { Undo } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type {
  InjectedItem,
  SkillDetail,
  SkillProblem,
  SkillSource,
  SkillSummary,
} from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import { estimateTokens } from '../platform/tokens.ts';
import type { Clock, Embedder } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { UndoLog } from '../store/undo.ts';
import { sweepStaging } from './bank.ts';
import { BankCopies } from './bank-copies.ts';
import { SkillEdits, type TextChange } from './edits.ts';
import { hashOf, type LoadedFile, readSkillText, SKILL_FILE } from './folder.ts';
import { Generation } from './generation.ts';
import { type Authorship, OUTSIDE, SkillHistory } from './history.ts';
import { type Overlap, overlapsOf } from './overlap.ts';
import { Ranking } from './ranking.ts';
import { Reading } from './reading.ts';
import { Retriever } from './retriever.ts';
import type { Spot } from './roots.ts';
import { type Place, Scopes } from './scopes.ts';
import type { Shelf } from './shelf.ts';
import {
  composeSkill,
  isSkillName,
  joinSkill,
  parseSkill,
  type SkillDraft,
  type SkillFile,
} from './skill-file.ts';
import { SkillSwitches } from './switches.ts';
import { type Fit, tryOn } from './try-on.ts';
import { type SkillUse, SkillUses } from './uses.ts';
import { SkillVectors } from './vectors.ts';
import { WorthBook } from './worth.ts';
import { taken, trashSkill, writeSkill } from './writing.ts';

export interface SkillBookDeps {
  /** Folder of the library, absolute. */
  dir: string;
  /** Folders of other tools, absolute, in order of priority after the library; never written to. */
  roots?: readonly string[];
  /** Folder of the built-in skills, read-only. */
  bank: string;
  /** Where removed skills go. */
  trash: string;
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  undo: UndoLog;
  config: () => Config;
  embedder: Embedder;
}

/** What retrieval offers: an item of a turn that has no place yet, and its text. */
export interface SkillCandidate extends Omit<InjectedItem, 'place'> {
  kind: 'skill';
  body: string;
  /** It fits, and this session does without it so that its worth can be measured. */
  withheld: boolean;
}

interface Live {
  file: LoadedFile;
  skill: SkillFile;
  tokens: number;
}

/**
 * The skill library: a folder of SKILL.md files that belongs to the user. Reads it, watches it, finds what fits a
 * text, and writes only whole new skills.
 */
export class SkillBook {
  /** Every text that a skill has had. */
  readonly history: SkillHistory;
  /** Changes by the user and by accepted proposals. */
  readonly edits: SkillEdits;
  /** For whom skills are meant. */
  readonly scopes: Scopes;
  readonly #deps: SkillBookDeps;
  readonly #reading: Reading;
  readonly #shelf: Shelf;
  readonly #live = new Map<string, Live>();
  readonly #ranking = new Ranking();
  readonly #vectors: SkillVectors;
  readonly #retriever: Retriever;
  readonly #bank: BankCopies;
  readonly #worth: WorthBook;
  readonly #switches: SkillSwitches;
  readonly #generation: Generation;
  readonly #uses: SkillUses;
  #folderProblems: SkillProblem[] = [];
  #isRead = false;

  constructor(deps: SkillBookDeps) {
    this.#deps = deps;
    this.#reading = new Reading({
      ...deps,
      take: (spots) => this.#takeAll(spots),
      changed: (folder, place) => this.#refresh(folder, OUTSIDE, place),
      lost: (names) => {
        for (const name of names) this.#settle(name);
      },
      done: () => this.#settleIn(),
    });
    this.#shelf = this.#reading.shelf;
    this.history = new SkillHistory(deps);
    this.#worth = new WorthBook(deps);
    this.#bank = new BankCopies(deps);
    this.#switches = new SkillSwitches(deps.database);
    this.#generation = new Generation(deps.database);
    this.#uses = new SkillUses(deps);
    this.#vectors = new SkillVectors(deps);
    this.#retriever = new Retriever({
      config: deps.config,
      ranking: this.#ranking,
      vectors: this.#vectors,
      enabled: () => this.#enabled(),
      isBuiltIn: (name) => this.#isBuiltIn(name),
    });
    this.scopes = new Scopes({ ...deps, changed: () => deps.bus.emit('invalidate', 'skills') });
    this.edits = new SkillEdits({
      ...deps,
      history: this.history,
      fileOf: (name) => this.#live.get(name)?.file ?? null,
      brokenOf: (name) => this.#shelf.brokenIn(name),
      isWritable: (file) => this.#isWritable(file),
      write: (name, content, by) => this.write(name, content, by),
      remove: (name, by) => this.remove(name, by),
      take: (folder, by) => this.#refresh(folder, by),
      changed: () => deps.bus.emit('invalidate', 'skills'),
    });
    deps.undo.handle('skill.enabled', (payload) => {
      const { name, enabled } = z.object({ name: z.string(), enabled: z.boolean() }).parse(payload);
      this.#switch(this.#need(name), enabled);
    });
  }

  /** Rises by one with every change of what can be injected; kept across restarts. */
  get generation(): number {
    return this.#generation.value;
  }

  /** Seeds the bank, loads the folder and watches it. A folder that cannot be used is a problem, never an exception. */
  async start(): Promise<void> {
    const { dir, log } = this.#deps;
    this.#vectors.start();
    this.#switches.load();
    this.#bank.load();
    this.#generation.load();
    this.edits.load();
    this.#worth.load();
    this.history.load();
    this.scopes.load();
    try {
      mkdirSync(dir, { recursive: true });
      sweepStaging(dir);
      this.#bank.bringIn();
      await this.#reading.start();
    } catch (error) {
      this.#folderProblems = [
        { path: dir, message: `The skills folder cannot be used: ${messageOf(error)}` },
      ];
      log.warn({ err: error, dir }, 'the skills folder cannot be used');
    }
  }

  async stop(): Promise<void> {
    this.#vectors.stop();
    await this.#reading.stop();
  }

  /** Takes other folders for those of other tools; resolves when theirs are read. */
  async followRoots(roots: readonly string[]): Promise<void> {
    await this.#reading.follow(roots);
  }

  /** Resolves when every skill has been read; thousands of them are read beside the first turns. */
  async loaded(): Promise<void> {
    await this.#reading.finished();
  }

  #takeAll(spots: readonly Spot[]): void {
    this.#deps.database.tx(() => {
      for (const { folder, place } of spots)
        for (const name of this.#shelf.read(folder, place).names) {
          this.#settle(name);
          this.#catchUp(name);
        }
    });
  }

  /** What can be done only when all is read. */
  #settleIn(): void {
    const { log } = this.#deps;
    this.#isRead = true;
    this.#noteGone();
    this.#noteChange();
    this.history.prune();
    for (const problem of this.#problems())
      log.warn({ path: problem.path }, `skill not used: ${problem.message}`);
    const { retrieval_mode: mode } = this.#deps.config().skills;
    if (mode === 'embedding' && !this.wantsVector) log.warn(this.matching());
  }

  /** Takes a folder of the library as it is now, as the watcher does when it changed. */
  reload(folder: string): void {
    this.#refresh(folder);
  }

  /** How skills are found, in words for the user. */
  matching(): string {
    const { config, embedder } = this.#deps;
    return config().skills.retrieval_mode === 'template'
      ? 'skills.retrieval_mode is template: skills are matched by keywords of their category.'
      : embedder.describe();
  }

  list(): { skills: SkillSummary[]; problems: SkillProblem[]; matching: string } {
    const uses = this.#uses.all();
    const skills = [...this.#live.values()].map((live) => this.#summary(live, uses));
    skills.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { skills, problems: this.#problems(), matching: this.matching() };
  }

  /** NOT_FOUND when there is no such skill. */
  get(name: string): SkillDetail {
    const live = this.#need(name);
    const content = readSkillText(live.file.path);
    if (content === null) throw missing(name);
    return { ...this.#summary(live, this.#uses.all()), content, hash: hashOf(content) };
  }

  /** True when a live skill has this name, or its folder is taken. */
  has(name: string): boolean {
    return this.#live.has(name) || (isSkillName(name) && existsSync(join(this.#deps.dir, name)));
  }

  /** The library as learning sees it, and what an accepted proposal does to it. */
  readonly forLearning = {
    texts: () => this.#texts(),
    add: (draft: SkillDraft, by: Authorship) => this.add(draft, by),
    rewrite: (name: string, to: { description: string; body: string }, by: Authorship) =>
      this.edits.rewrite(name, to, by),
    takeBack: (change: TextChange) => this.edits.takeBack(change),
    remove: (name: string) => this.remove(name),
    textOf: (hash: string) => this.edits.skillOf(hash),
  };

  /**
   * `proposal` is the one that the file came from, `editedBy` the one that its newest text came from; `editable` is
   * false for skills that learning may not change.
   */
  #texts(): (Pick<SkillFile, 'name' | 'description' | 'body' | 'proposal'> & {
    hash: string;
    editedBy: string | null;
    editable: boolean;
  })[] {
    return [...this.#live.values()].map(({ skill: { name, description, body, proposal }, file }) => ({
      name,
      description,
      body,
      proposal,
      hash: file.hash,
      editedBy: this.history.latest(name)?.proposal ?? null,
      editable: this.#isWritable(file) && !this.edits.isLocked(name),
    }));
  }

  setEnabled(name: string, enabled: boolean): { undo: Undo } {
    const live = this.#need(name);
    const before = this.#switches.isOn(live.skill);
    return this.#deps.database.tx(() => {
      this.#switch(live, enabled);
      const label = `${enabled ? 'Switched on' : 'Switched off'}: ${name}`;
      return { undo: this.#deps.undo.offer('skill.enabled', label, { name, enabled: before }) };
    });
  }

  /** Writes an accepted skill; as `write`. */
  add(draft: SkillDraft, by: Authorship = { author: 'learned' }): void {
    this.write(draft.name, composeSkill(draft), by);
  }

  /**
   * Adds a whole new skill, or nothing. SKILL_INVALID when the content is no valid SKILL.md of that name, CONFLICT
   * when the name or its folder is taken: a file of the user is never overwritten.
   */
  write(name: string, content: string, by: Authorship = { author: 'user' }): void {
    const there = this.#live.get(name);
    // One of the user's own may stand before one of another tool.
    if (there && this.#isWritable(there.file)) throw taken(name);
    writeSkill(this.#deps.dir, name, content);
    this.#refresh(name, by);
  }

  /** Moves a skill's folder into the trash and returns where it is now. NOT_FOUND when there is no such skill. */
  remove(name: string, by: Authorship = { author: 'user' }): string {
    const { file } = this.#need(name);
    const { folder } = file;
    if (!this.#isWritable(file)) throw foreign(name, file.path);
    const { dir, trash, clock } = this.#deps;
    const target = trashSkill(dir, trash, folder, clock.now());
    this.#refresh(folder, by);
    return target;
  }

  /**
   * Skills that fit the text, best first, at most `limit` (`skills.top_k` when absent); nothing when none is
   * certain enough. Synchronous and bounded: well under a millisecond for hundreds of skills.
   */
  retrieve(
    text: string,
    options: { limit?: number; sessionId?: string; place?: Place; vector?: Float32Array | null } = {},
  ): SkillCandidate[] {
    const { skills: config, learning } = this.#deps.config();
    const { sessionId } = options;
    if (!config.enabled) return [];
    const limit = options.limit ?? config.top_k;
    const allows = this.scopes.filterFor(options.place);
    const hits = this.#retriever.find(text, limit, allows, options.vector ?? null);
    return hits.flatMap(({ id, score, reason }) => {
      const live = this.#live.get(id);
      if (!live) return [];
      const { skill, tokens } = live;
      const withheld = sessionId !== undefined && this.#worth.isWithheld(sessionId, id, learning.holdout);
      return [{ kind: 'skill' as const, id, title: id, body: skill.body, tokens, score, reason, withheld }];
    });
  }

  /** What retrieval thinks of a text, with what stayed below the threshold: for `--explain` and the screens. */
  async search(text: string): Promise<{ name: string; score: number; reason: string; entered: boolean }[]> {
    const vector = this.wantsVector ? await this.#deps.embedder.query(text, QUESTION_MS) : null;
    const entered = new Map(this.retrieve(text, { vector }).map((candidate) => [candidate.id, candidate]));
    const others = this.#retriever.weigh(text, 20, vector).filter(({ id }) => !entered.has(id));
    return [
      ...[...entered.values()].map(({ id, score, reason }) => ({ name: id, score, reason, entered: true })),
      ...others.map(({ id, score, reason }) => ({ name: id, score, reason, entered: false })),
    ];
  }

  /**
   * How a SKILL.md would do on what users asked in some turns; nothing is kept of it. SKILL_INVALID when it is none.
   */
  tryOn<T extends object>(content: string, asked: readonly { turn: T; words: string }[]): (T & Fit)[] {
    const { skill, problem } = parseSkill(content);
    if (problem !== null) throw new AppError('SKILL_INVALID', problem);
    const { config } = this.#deps;
    const tried = new Retriever({
      config,
      ranking: this.#ranking,
      vectors: this.#vectors,
      enabled: () => [...this.#enabled()].filter(({ name }) => name !== skill.name).concat(skill),
      isBuiltIn: (name) => name !== skill.name && this.#isBuiltIn(name),
    });
    const find = (retriever: Retriever) => (text: string) =>
      retriever.find(text, config().skills.top_k, null, null);
    return tryOn(skill, asked, {
      ranking: this.#ranking,
      now: find(this.#retriever),
      tried: find(tried),
      live: (name) => {
        const live = this.#live.get(name)?.skill;
        return live && this.#switches.isOn(live) ? live : null;
      },
    });
  }

  /** Whether a vector of the user's words would be of use. */
  get wantsVector(): boolean {
    return this.#vectors.areWanted;
  }

  /** Remembers which skills a session carries or does without, for their worth. */
  recordTrials(
    turn: { turnId: string; sessionId: string },
    carried: readonly string[],
    withheld: readonly string[],
  ): void {
    const trial = (isWithheld: boolean) => (skill: string) => ({
      skill,
      version: this.#versionOf(skill),
      withheld: isWithheld,
    });
    this.#worth.record(turn, [...withheld.map(trial(true)), ...carried.map(trial(false))]);
  }

  /** How sessions went has been noted anew. */
  outcomesChanged(): void {
    this.#worth.forget();
    this.#deps.bus.emit('invalidate', 'skills');
  }

  /** What the bank has newer for built-in skills that were edited, as a unified diff from the user's text. */
  bankUpdates(): { name: string; diff: string }[] {
    return this.#bank.updates();
  }

  /** Takes the bank's text for an edited skill; undone like any edit. NOT_FOUND when the bank has nothing newer. */
  takeFromBank(name: string): { undo: Undo } {
    return this.#bank.take(name, (text) => {
      const { undo } = this.edits.edit(name, text, { by: { author: 'built-in' } });
      return { undo };
    });
  }

  /** Leaves an edited built-in skill as it is; the bank's newer text counts as seen. */
  keepMine(name: string): void {
    this.#bank.take(name, () => {});
  }

  /** Skills that get in each other's way. */
  overlaps(): Overlap[] {
    return overlapsOf([...this.#live.values()].map(({ skill }) => skill));
  }

  /** Remembers that a turn carried these skills; the same turn counts once. */
  recordUse(turnId: string, names: readonly string[]): void {
    if (names.length === 0) return;
    this.#uses.record(turnId, names);
    this.#deps.bus.emit('invalidate', 'skills');
  }

  /** Reads one changed folder again, alone. */
  #refresh(folder: string, by: Authorship = OUTSIDE, place = 0): void {
    const { file, names, changed } = this.#shelf.read(folder, place);
    if (!changed) return;
    for (const name of names) {
      this.#settle(name);
      // A file that cannot be read just now is not gone.
      if (!file?.problem) this.#remember(name, by);
    }
    if (file?.problem) this.#deps.log.warn({ path: file.path }, `skill not used: ${file.problem}`);
    this.#noteChange();
  }

  /** Takes over the file that a name stands for now, and decides whether retrieval may find it. */
  #settle(name: string): void {
    const file = this.#shelf.fileOf(name);
    this.#generation.stamp(name, file?.skill && this.#switches.isOn(file.skill) ? file.hash : null);
    if (!file?.skill) {
      this.#live.delete(name);
      this.#ranking.remove(name);
      this.#vectors.remove(name);
      return;
    }
    this.#live.set(name, { file, skill: file.skill, tokens: estimateTokens(file.skill.body) });
    try {
      if (this.#switches.isOn(file.skill)) {
        this.#ranking.add(name, file.skill);
        this.#vectors.add(name, file.skill);
      } else {
        this.#ranking.remove(name);
        this.#vectors.remove(name);
      }
    } catch (error) {
      // One file must never keep the rest, or the proxy, from working.
      this.#ranking.remove(name);
      this.#deps.log.error({ err: error, path: file.path }, 'the skill cannot be searched for');
    }
  }

  /** Makes a version of what a name stands for now, unless the newest one is just that. */
  #remember(name: string, by: Authorship): void {
    const live = this.#live.get(name);
    const file = live ? { hash: live.file.hash, text: () => joinSkill(live.skill.parts) } : null;
    this.history.note(name, file, by);
    this.#worth.forget();
  }

  #versionOf(name: string): number {
    return this.history.latest(name)?.version ?? 1;
  }

  /** Makes a version of what changed while nobody watched. */
  #catchUp(name: string): void {
    const live = this.#live.get(name);
    if (!live) return;
    const source = this.#sourceOf(live.file, live.skill);
    const isFirst = this.history.latest(name) === null;
    const author = source === 'built-in' || (source === 'learned' && isFirst) ? source : OUTSIDE.author;
    this.#remember(name, { author });
  }

  /** Notes what was removed while nobody watched. */
  #noteGone(): void {
    const { database, dir } = this.#deps;
    database.tx(() => {
      for (const name of this.history.present())
        if (!this.#live.has(name) && !existsSync(join(dir, name, SKILL_FILE))) this.#remember(name, OUTSIDE);
    });
  }

  #isWritable(file: LoadedFile): boolean {
    return file.path === join(this.#deps.dir, file.folder, SKILL_FILE);
  }

  #switch({ skill }: Live, enabled: boolean): void {
    this.#switches.set(skill, enabled);
    this.#settle(skill.name);
    this.#noteChange();
  }

  #noteChange(): void {
    if (this.#isRead) this.#generation.settle();
    this.#deps.bus.emit('invalidate', 'skills');
  }

  *#enabled(): Generator<SkillFile> {
    for (const { skill } of this.#live.values()) if (this.#switches.isOn(skill)) yield skill;
  }

  #need(name: string): Live {
    const live = this.#live.get(name);
    if (live) return live;
    const broken = this.#shelf.brokenIn(name);
    if (broken === null) throw missing(name);
    throw new AppError('NOT_FOUND', `The skill ${name} cannot be used: ${broken.problem}`, {
      hint: `Mend ${broken.path}, or bring its last text back: metaclaw skills restore ${name}.`,
    });
  }

  #problems(): SkillProblem[] {
    return [...this.#folderProblems, ...this.#reading.problems(), ...this.#shelf.problems()];
  }

  #summary({ file, skill, tokens }: Live, uses: ReadonlyMap<string, SkillUse>): SkillSummary {
    const used = uses.get(skill.name);
    return {
      name: skill.name,
      description: skill.description,
      category: skill.category,
      source: this.#sourceOf(file, skill),
      enabled: this.#switches.isOn(skill),
      tokens,
      path: file.path,
      updatedAt: new Date(file.updatedAtMs).toISOString(),
      uses: used?.uses ?? 0,
      lastUsedAt: used?.last ?? null,
      version: this.#versionOf(skill.name),
      locked: this.edits.isLocked(skill.name),
      writable: this.#isWritable(file),
      scope: this.scopes.of(skill.name),
      worth: this.#worth.measure((name) => this.#versionOf(name)).get(skill.name) ?? null,
    };
  }

  #isBuiltIn(name: string): boolean {
    const live = this.#live.get(name);
    return live !== undefined && this.#sourceOf(live.file, live.skill) === 'built-in';
  }

  /** A built-in skill that was edited is the user's own. */
  #sourceOf(file: LoadedFile, skill: SkillFile): SkillSource {
    if (this.#isWritable(file) && this.#bank.isUnedited(file)) return 'built-in';
    return skill.source === 'learned' ? 'learned' : 'user';
  }
}

/** A person who searches waits so long for the question's vector. */
const QUESTION_MS = 3000;

function missing(name: string): AppError {
  return new AppError('NOT_FOUND', `There is no skill named ${JSON.stringify(name)}.`);
}

function foreign(name: string, path: string): AppError {
  return new AppError('FORBIDDEN', `The skill ${name} belongs to another program and is only read.`, {
    hint: `Import ${path} to have a copy of your own.`,
  });
}
