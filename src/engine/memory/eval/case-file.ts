import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { AppError, messageOf } from '../../../shared/errors.ts';
import type { MemoryScope } from '../../../shared/memory.ts';

/** A question of which it is known what it needs. */
export interface LabelledCase {
  ask: string;
  /** Free word for what it tries, e.g. `update`; empty when there is none. */
  kind: string;
  scope: MemoryScope;
  /** Of each group, one memory at least must enter. A memory is named by its id or by words of it. */
  want: string[][];
  /** None of them may enter; of a case that tells of a changed value: not as the current one. */
  not: string[];
  /** Nothing at all may enter. */
  nothing: boolean;
  /** ISO; when it is asked. Null: now. */
  at: string | null;
}

/** An exchange of a conversation that a case file brings along; `id` is what its cases name it by. */
interface CaseExchange {
  id: string;
  user: string;
  assistant: string;
  /** ISO. */
  at: string;
}

export interface CaseSession {
  id: string;
  scope: MemoryScope;
  exchanges: CaseExchange[];
}

export interface CaseFile {
  /** Conversations to remember from; empty: the cases ask the user's own store. */
  sessions: CaseSession[];
  cases: LabelledCase[];
}

const names = z.array(z.string().min(1)).default([]);
const part = z.string().default('');
const owner = { user: part, workspace: part };
const plainCase = z.object({
  ...owner,
  ask: z.string().min(1),
  kind: part,
  want: names,
  not: names,
  nothing: z.boolean().default(false),
  at: z.iso.datetime({ offset: true }).optional(),
});
/** Kind, question, what must enter (`a b` both, `a|b` either), what must not. */
const shortCase = z
  .tuple([z.string(), z.string().min(1)])
  .rest(z.string())
  .refine(({ length }) => length <= 4, 'has at most four parts: kind, question, want, not');

const schema = z.object({
  at: z.iso.datetime({ offset: true }).optional(),
  sessions: z
    .array(
      z.object({
        ...owner,
        at: z.iso.datetime({ offset: true }),
        turns: z.array(z.tuple([z.string(), z.string(), z.string()])),
      }),
    )
    .default([]),
  cases: z.array(plainCase).default([]),
  groups: z.array(z.object({ ...owner, cases: z.array(shortCase) })).default([]),
});

const MINUTE_MS = 60_000;

/**
 * Reads cases from YAML, JSON or one JSON object a line: a list of `{ask, want, not, nothing, user, workspace}`, alone
 * or under `cases`. Throws BAD_INPUT with what is wrong and where.
 */
export function readCaseFile(path: string): CaseFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('NOT_FOUND', `${path} cannot be read: ${messageOf(error)}`, { field: 'cases' });
  }
  const content = path.endsWith('.jsonl')
    ? text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => parsed(path, line))
    : parsed(path, text);
  return toCaseFile(path, content);
}

/** As `readCaseFile`, of what was parsed. `path` is for messages. */
export function toCaseFile(path: string, content: unknown): CaseFile {
  const read = schema.safeParse(Array.isArray(content) ? { cases: content } : content);
  if (!read.success) {
    const [issue] = read.error.issues;
    const place = issue?.path.join('.') ?? '';
    throw new AppError('BAD_INPUT', `${path}: ${place === '' ? '' : `${place}: `}${issue?.message}`, {
      hint: 'Each case is {ask, want: [id or words of a memory], not: [...]}, or {ask, nothing: true}.',
      field: 'cases',
    });
  }
  const { sessions, cases, groups, at = null } = read.data;
  const file: CaseFile = {
    sessions: sessions.map(({ turns, at: began, ...session }, number) => ({
      id: `case-${number + 1}`,
      scope: { user: session.user, workspace: session.workspace, agent: '' },
      exchanges: turns.map(([id, user, assistant], index) => ({
        id,
        user,
        assistant,
        at: new Date(Date.parse(began) + index * MINUTE_MS).toISOString(),
      })),
    })),
    cases: [
      ...cases.map(({ user, workspace, want, at: own, ...one }) => ({
        ...one,
        scope: { user, workspace, agent: '' },
        want: want.map((name) => [name]),
        at: own ?? at,
      })),
      ...groups.flatMap(({ user, workspace, cases: short }) =>
        short.map(([kind, ask, want = '', not = '']) => ({
          kind,
          ask,
          scope: { user, workspace, agent: '' },
          want: wordsOf(want).map((either) => either.split('|')),
          not: wordsOf(not),
          nothing: want === '',
          at,
        })),
      ),
    ],
  };
  if (file.cases.length === 0)
    throw new AppError('BAD_INPUT', `${path} has no cases.`, {
      hint: 'Each case is {ask, want: [id or words of a memory], not: [...]}, or {ask, nothing: true}.',
      field: 'cases',
    });
  return file;
}

function wordsOf(text: string): string[] {
  return text.split(' ').filter(Boolean);
}

function parsed(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new AppError('BAD_INPUT', `${path} is neither YAML nor JSON: ${messageOf(error)}`, {
      field: 'cases',
    });
  }
}
