import type { MemoryScope } from '../../shared/memory.ts';
import type { Capture, HeardTurn } from './capture.ts';
import type { Reader } from './reader.ts';
import type { ScopeTable } from './scope.ts';

interface ConversationsDeps {
  capture: Capture;
  reader: Reader;
  scopes: ScopeTable;
}

/** An exchange that another program tells of. */
export interface ToldExchange {
  sessionId: string;
  scope: MemoryScope;
  user: string;
  reply: string;
  /** The program's own id of it; may be empty. The same exchange told twice is kept once. */
  id: string;
}

/** How conversations become memories: heard turn by turn, read in the background. */
export class Conversations {
  readonly #deps: ConversationsDeps;

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  /** Takes up what a crash or a failure left, then works until `stop`. */
  start(): void {
    const { capture, reader } = this.#deps;
    const late = capture.catchUp();
    reader.start();
    for (const session of late) reader.heard(session);
  }

  stop(): Promise<void> {
    return this.#deps.reader.stop();
  }

  /** Call when provider, key or settings changed. */
  wake(): void {
    this.#deps.reader.wake();
  }

  /** A main turn was recorded; call it in the transaction that records it. */
  turnRecorded(turn: HeardTurn): void {
    if (this.#deps.capture.recorded(turn)) this.#deps.reader.heard(turn.sessionId);
  }

  /** As `turnRecorded`, for a side turn. `compacts`: the client puts its history into fewer words. */
  sideTurnRecorded(turn: HeardTurn & { compacts: boolean }): void {
    const { capture, reader } = this.#deps;
    if (turn.compacts) reader.due(turn.sessionId);
    else if (capture.recordedAside(turn)) reader.heard(turn.sessionId);
  }

  sessionEnded(sessionId: string): void {
    this.#deps.reader.due(sessionId);
  }

  /** Keeps exchanges that another program tells of. Returns how many had news. */
  tell(exchanges: readonly ToldExchange[]): number {
    const { capture, reader, scopes } = this.#deps;
    let news = 0;
    for (const { scope, ...exchange } of exchanges)
      if (capture.told({ ...exchange, scope: scopes.idFor(scope) }) > 0) news += 1;
    for (const session of new Set(exchanges.map(({ sessionId }) => sessionId))) reader.heard(session);
    return news;
  }

  /** Reads a session, or all that have unread words, now. Returns how many memories are new. */
  async readNow(sessionId?: string): Promise<number> {
    const { reader } = this.#deps;
    let added = 0;
    for (const session of sessionId === undefined ? reader.sessionsUnread() : [sessionId])
      added += await reader.readNow(session);
    return added;
  }

  /** Sessions with exchanges that nobody has read, or the one that is named: how many, and whose. */
  unread(sessionId?: string): { sessionId: string; exchanges: number; scope: MemoryScope | null }[] {
    const { reader, scopes } = this.#deps;
    return (sessionId === undefined ? reader.sessionsUnread() : [sessionId]).map((session) => {
      const scope = reader.scopeOf(session);
      return {
        sessionId: session,
        exchanges: reader.requestsUnread(session),
        scope: scope === null ? null : scopes.get(scope),
      };
    });
  }

  /** `pending`: rows that nobody has read. */
  status(): { pending: number; lastError: string | null } {
    return this.#deps.reader.status();
  }
}
