import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '../../src/engine/bus.ts';
import type { Logger } from '../../src/engine/platform/logger.ts';
import { Facts } from '../../src/engine/proxy/facts.ts';
import { skim } from '../../src/engine/proxy/skim.ts';
import {
  type OpenTurn,
  type ReceivedReply,
  type RequestFacts,
  type SentRequest,
  type SessionEnd,
  SessionLog,
} from '../../src/engine/sessions/index.ts';
import { type Database, openDatabase } from '../../src/engine/store/database.ts';
import { type FakeClock, fakeClock } from './clock.ts';

export interface ClientRequest {
  body: object;
  headers?: Record<string, string>;
  dialect?: 'openai' | 'anthropic';
  agent?: string | null;
  clientAddress?: string;
}

/** The facts of a request as the proxy reads them from its bytes. */
export function factsOf(request: ClientRequest): RequestFacts {
  return new Facts({
    dialect: request.dialect ?? 'openai',
    skim: skim(Buffer.from(JSON.stringify(request.body))),
    headers: request.headers ?? {},
    agent: request.agent === undefined ? 'test-agent' : request.agent,
    clientAddress: request.clientAddress ?? 'loopback',
  });
}

/** A chat request: strings are the user's and the assistant's words in turn. */
export function chat(...words: string[]): ClientRequest {
  return {
    body: {
      model: 'm',
      messages: words.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
    },
  };
}

export const SILENT_LOG: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => SILENT_LOG,
};

/** A log that fails the test when something was recorded as an error. */
export function strictLog(errors: unknown[]): Logger {
  const log: Logger = {
    ...SILENT_LOG,
    error: (...args: unknown[]) => {
      errors.push(args);
    },
    child: () => log,
  };
  return log;
}

export interface SessionLab {
  readonly folder: string;
  readonly file: string;
  readonly clock: FakeClock;
  readonly ended: SessionEnd[];
  readonly errors: unknown[];
  readonly settings: { idleMinutes: number; bodies: boolean };
  database: Database;
  log: SessionLog;
  /** One whole turn: opened, sent, answered. */
  turn(request: ClientRequest, reply?: Partial<ReceivedReply>, sent?: Partial<SentRequest>): OpenTurn;
  send(turn: OpenTurn, request: ClientRequest, sent?: Partial<SentRequest>): void;
  answer(turn: OpenTurn, reply?: Partial<ReceivedReply>): void;
  /** As a new process finds it: the database is opened again and nothing is in memory. */
  restart(): void;
  close(): void;
}

/** A session log over a real database file, with a clock that stands still. */
export function sessionLab(options: { clock?: FakeClock } = {}): SessionLab {
  const folder = mkdtempSync(join(tmpdir(), 'mc-sessions-'));
  const file = join(folder, 'state.db');
  const clock = options.clock ?? fakeClock();
  const ended: SessionEnd[] = [];
  const errors: unknown[] = [];
  const settings = { idleMinutes: 5, bodies: true };
  const build = (database: Database): SessionLog => {
    const log = new SessionLog({
      database,
      clock,
      log: strictLog(errors),
      bus: new Bus(),
      config: () => ({
        sessions: { idle_minutes: settings.idleMinutes },
        record: { bodies: settings.bodies },
      }),
    });
    log.onEnded((end) => ended.push(end));
    log.start();
    return log;
  };
  const database = openDatabase(file).database;
  const lab: SessionLab = {
    folder,
    file,
    clock,
    ended,
    errors,
    settings,
    database,
    log: build(database),
    turn(request, reply, sent) {
      const turn = lab.log.open(factsOf(request));
      lab.send(turn, request, sent);
      lab.answer(turn, reply);
      return turn;
    },
    send(turn, request, sent) {
      const bytes = Buffer.from(JSON.stringify(request.body));
      lab.log.recordRequest(turn, {
        upstream: 'fake',
        host: 'fake.example',
        model: 'real-model',
        requestBody: bytes,
        sentBody: bytes,
        report: { items: [], leftOut: [], tokens: 0, skipped: null },
        injection: turn.injection,
        ...sent,
      });
    },
    answer(turn, reply) {
      lab.log.recordReply(turn, {
        status: 'answered',
        httpStatus: 200,
        firstByteMs: 12,
        usage: null,
        replyText: 'fine',
        replyBody: { choices: [{ message: { role: 'assistant', content: 'fine' } }] },
        error: null,
        ...reply,
      });
    },
    restart() {
      lab.log.stop();
      lab.database.close();
      lab.database = openDatabase(file).database;
      lab.log = build(lab.database);
    },
    close() {
      lab.log.stop();
      lab.database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return lab;
}
