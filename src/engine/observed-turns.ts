import type { Logger } from './platform/logger.ts';
import type { Clock } from './ports.ts';
import type { TurnLog } from './proxy/index.ts';
import type { SentRequest } from './sessions/index.ts';

/** A main turn that has been recorded. */
export interface RecordedTurn {
  id: string;
  sessionId: string;
  seq: number;
  /** Skills that it carried. */
  skills: string[];
}

/**
 * The session log as the proxy sees it, with observers of what was recorded. They run after the answer went out, each
 * on its own: a failing one is logged and disturbs neither the reply nor the others.
 */
export function observedTurns(
  log: TurnLog,
  observers: readonly ((turn: RecordedTurn) => void)[],
  deps: { clock: Clock; log: Logger },
): TurnLog {
  const sentBy = new WeakMap<object, SentRequest>();
  return {
    open: (facts) => log.open(facts),
    recordRequest: (turn, sent) => {
      log.recordRequest(turn, sent);
      if (turn.kind === 'main') sentBy.set(turn, sent);
    },
    recordReply: (turn, reply) => {
      log.recordReply(turn, reply);
      const sent = sentBy.get(turn);
      if (!sent || reply.status !== 'answered') return;
      const { items } = sent.report;
      const skills = items.filter((item) => item.kind === 'skill').map((item) => item.id);
      const recorded = { id: turn.id, sessionId: turn.sessionId, seq: turn.seq, skills };
      deps.clock.after(0, () => {
        for (const observe of observers)
          try {
            observe(recorded);
          } catch (error) {
            deps.log.warn({ err: error, turn: recorded.id }, 'an observer of turns failed');
          }
      });
    },
    abandon: (turn) => log.abandon(turn),
  };
}
