import type { Config } from '../shared/config.ts';
import { type Candidate, composeInjection, type InjectionPlan, skipInjection } from './inject/index.ts';
import type { OpenTurn } from './sessions/index.ts';

export interface ComposerDeps {
  config: () => Config;
  /** Bounded by construction: an index lookup in memory, never a wait. */
  retrieve: (
    text: string,
    options: { limit: number; sessionId: string; place: { agent: string; project: string | null } },
  ) => readonly Candidate[];
}

/** What a turn carries: decides whether anything may be added at all, asks retrieval, and places what fits. */
export function createComposer(deps: ComposerDeps): (turn: OpenTurn, roomTokens: number) => InjectionPlan {
  return (turn, roomTokens) => {
    const { skills } = deps.config();
    const { facts } = turn;
    if (turn.kind === 'side') return skipInjection(turn.injection, facts, 'side-turn');
    if (!skills.enabled) return skipInjection(turn.injection, facts, 'off');
    if (facts.headers['x-metaclaw-skills']?.toLowerCase() === 'off')
      return skipInjection(turn.injection, facts, 'header');
    // In a tool loop the words were looked at in their own turn, unless new ones came with the results.
    const goesOn = facts.endsWithToolResult && !facts.endsWithUserWords;
    if (goesOn || facts.userText.trim() === '') return skipInjection(turn.injection, facts, 'no-user-text');
    const candidates = deps.retrieve(facts.userText, {
      limit: skills.top_k,
      sessionId: turn.sessionId,
      place: {
        agent: turn.agent,
        project: facts.headers['x-workspace-id'] || facts.fields.workspace_id || null,
      },
    });
    return composeInjection(turn.injection, facts, candidates, {
      sessionTokens: skills.max_tokens,
      roomTokens,
    });
  };
}
