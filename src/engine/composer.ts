import type { Config } from '../shared/config.ts';
import {
  type Candidate,
  composeInjection,
  type InjectionPlan,
  skipInjection,
  type TurnView,
} from './inject/index.ts';
import type { OpenTurn } from './sessions/index.ts';

export interface ComposerDeps {
  config: () => Config;
  /** Bounded by construction: an index lookup in memory, never a wait. */
  retrieve: (text: string, options: { limit: number }) => readonly Candidate[];
}

/** What a turn carries: decides whether anything may be added at all, asks retrieval, and places what fits. */
export function createComposer(deps: ComposerDeps): (turn: OpenTurn, roomTokens: number) => InjectionPlan {
  return (turn, roomTokens) => {
    const { skills } = deps.config();
    const { facts } = turn;
    const view: TurnView = {
      userIndex: facts.userIndex,
      hasAssistant: facts.hasAssistant,
      digests: () => facts.digests(),
      systemText: () => facts.systemText,
    };
    if (turn.kind === 'side') return skipInjection(turn.injection, view, 'side-turn');
    if (!skills.enabled) return skipInjection(turn.injection, view, 'off');
    if (facts.headers['x-metaclaw-skills']?.toLowerCase() === 'off')
      return skipInjection(turn.injection, view, 'header');
    if (facts.endsWithToolResult || facts.userText.trim() === '')
      return skipInjection(turn.injection, view, 'no-user-text');
    const candidates = deps.retrieve(facts.userText, { limit: skills.top_k });
    return composeInjection(turn.injection, view, candidates, {
      sessionTokens: skills.max_tokens,
      roomTokens,
    });
  };
}
