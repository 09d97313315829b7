/** How well memories are found, measured on cases of which it is known what they need. */

/** How memories are searched for, and how much of them may enter a turn. */
export interface RecallSettings {
  mode: 'keyword' | 'hybrid' | 'embedding';
  /** Most memories in one turn. */
  units: number;
  /** Most tokens of memories in one turn. */
  tokens: number;
  /** Least relevance at which a memory enters, 0 to 1. */
  relevance: number;
}

/** A share with the bounds of its 95 % interval, each 0 to 1. */
export interface Share {
  value: number;
  low: number;
  high: number;
  /** Of how many. */
  of: number;
}

/**
 * How settings compare with the present ones on the same cases. `better` and `worse` only where chance alone would do
 * so in less than 2.5 of 100 times.
 */
type Verdict = 'present' | 'better' | 'worse' | 'no difference shown' | 'too few cases';

/** What one choice of settings does on all cases. */
export interface EvalRow {
  settings: RecallSettings;
  verdict: Verdict;
  /** Cases that go better, or worse, than with the present settings. */
  better: number;
  worse: number;
  /** Of the memories that were needed, those that entered; null without any. */
  recall: Share | null;
  /** Of the cases that tell what must not enter, those in which it did; null without any. */
  wrong: Share | null;
  /** Mean tokens and memories in a turn. */
  tokens: number;
  units: number;
  /** It may take more than the settings in the config file allow, so it is never adopted by itself. */
  isOverBudget: boolean;
}

/** Where the cases come from. */
export interface EvalSources {
  /** Turns that the user called good, or praised. */
  good: number;
  /** Turns that the user called bad, or corrected. */
  bad: number;
  /** Turns all of whose memories were forgotten since. */
  forgotten: number;
  /** Corrections that say again what was remembered and did not enter. */
  missed: number;
  /** From a file. */
  file: number;
}

export interface MemoryEval {
  cases: number;
  sources: EvalSources;
  /** The present settings first. */
  rows: EvalRow[];
  /** What limits the numbers, in words. */
  notes: string[];
}

/** Settings that were taken up because the user's own cases went better with them. */
export interface Adoption {
  id: number;
  at: string;
  from: RecallSettings;
  to: RecallSettings;
  /** What changed and the numbers that decided, in words. */
  why: string;
  /** `held`: the config changed since, so that they count no longer. */
  state: 'in force' | 'undone' | 'replaced' | 'held';
}

/** What the tuning by itself did. */
export interface Adaptive {
  enabled: boolean;
  /** What counts at present: the config's settings, or those that were adopted. */
  settings: RecallSettings;
  /** Newest first. */
  adoptions: Adoption[];
  /** What the last look came to, in words; null before the first. */
  lastLook: { at: string; what: string } | null;
}
