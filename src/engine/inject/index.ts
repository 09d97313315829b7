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
