import type { InjectedItem } from '../../shared/model.ts';

/** A block of text that MetaClaw added at one place of a session. */
export interface InjectedBlock {
  text: string;
  items: InjectedItem[];
}

/** Where a message block stands: the message's position among non-system messages and its hash. */
export interface MessageAnchor {
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

/** What retrieval offers for a turn, best first. */
export interface Candidate {
  kind: 'skill' | 'memory';
  id: string;
  title: string;
  /** Text to add, without heading. */
  body: string;
  tokens: number;
  score: number;
  reason: string;
}

/** What to change in the request that goes upstream. */
export interface InjectionPlan {
  /** Text to append to the client's system part (a blank line before it), or null. */
  system: string | null;
  /** Text to put before the user's words of a message; `index` counts non-system messages from 0. */
  messages: { index: number; text: string }[];
  report: import('../../shared/model.ts').InjectionReport;
  /** The session's injection after this turn. */
  injection: SessionInjection;
}
