import { termsOf } from '../../platform/words.ts';
import {
  ADDITION,
  ASIDE,
  CHANGE,
  CONDITION,
  FILLER,
  FUTURE,
  LABEL,
  NEGATION,
  PAST,
  QUESTION,
  REASON,
  REASON_BEFORE,
  STATEMENT_END,
  VAGUE,
} from './phrases.ts';

/** What one statement tells the value of. */
export interface Telling {
  /** The thing, e.g. `tech/database|staging`. */
  slot: string;
  /** In its plainest form, so that two can be compared; with a leading `!`: what no longer holds. */
  value: string;
}

/** A value that a statement says to be over. */
export interface Ending extends Telling {
  /** What the statement tells then; only with it, where the words alone leave the slot open. */
  instead?: Telling;
}

/** One clause with what is beside the point taken out. */
export interface Statement {
  text: string;
  /** As it was said. */
  clause: string;
  /** Whether a reason, a time or the like was taken out. */
  bare: boolean;
  /** It says itself that something became otherwise. */
  changed: boolean;
  negated: boolean;
  past: boolean;
  future: boolean;
  added: boolean;
}

/** What a statement is found to tell, and what it ends. */
export interface Found {
  tells: Telling[];
  ends: Ending[];
}

/** The clauses of a text that state something plainly: no questions, no conditions. */
export function statementsIn(content: string): Statement[] {
  const text = content
    .normalize('NFKC')
    .replace(LABEL, (label) => (/preference/i.test(label) ? 'prefer ' : ''))
    .replace(/[*_`"“”«»「」『』]/g, ' ');
  return text
    .split(STATEMENT_END)
    .map((clause) => clause.trim())
    .filter((clause) => clause.length > 1 && clause.length <= 300 && !QUESTION.test(clause))
    .filter((clause) => !has(CONDITION, clause) && !has(VAGUE, clause.replace(OLD_VALUE, ' ')))
    .map(toStatement);
}

function toStatement(clause: string): Statement {
  const reasonless = clause.replace(REASON_BEFORE, '').replace(REASON, '');
  const text = reasonless
    .replace(ASIDE, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s,，、:：-]+|[\s,，、.。!:：-]+$/g, '');
  return {
    text,
    clause,
    bare: reasonless.length === clause.length,
    changed: has(CHANGE, clause),
    negated: has(NEGATION, clause),
    past: has(PAST, clause),
    future: has(FUTURE, clause),
    added: has(ADDITION, clause),
  };
}

/** Whether one of the phrases stands in the text. */
export function has(phrases: RegExp, text: string): boolean {
  phrases.lastIndex = 0;
  return phrases.test(text);
}

/** Names of one capital letter or of capitals only. */
const LETTERS = /(?<=\S\s)(?!I\b)[A-Z](?=\s|$|['’])|(?<![\p{L}\p{N}])(?!I\b)[A-Z]{2,5}(?![\p{L}\p{N}])/gu;
/** Old is also what is being replaced. */
const OLD_VALUE = /\b(?:replac\w+|drop\w+|from) (?:our |the |my )?(?:old|previous|former)\b/giu;
const NUMBER = /(?<![\p{L}\p{N}])\d+(?:[.,:]\d+)*(?![\p{L}\p{N}])/gu;

/**
 * The words that say whose or of what: all but fillers and those that the caller knows to be the value or the thing
 * itself. Two statements are about the same only when these are the same.
 */
export function subjectOf(text: string, known: ReadonlySet<string> = new Set()): string {
  // Project A, the US: letters that would pass for a filler or a pronoun.
  const letters = (text.match(LETTERS) ?? []).filter((name) => !known.has(name.toLowerCase()));
  const left = text.replace(LETTERS, ' ').replace(NEGATION, ' ').replace(CHANGE, ' ').replace(FILLER, ' ');
  const words = termsOf(left)
    .filter(({ surface, term }) => !known.has(surface) && !known.has(term))
    .map(({ term }) => term);
  const numbers = left.match(NUMBER) ?? [];
  return [...new Set([...letters, ...words, ...numbers])].sort().join(' ');
}

/** A slot of a family for a subject. */
export function slotName(family: string, subject: string): string {
  return subject === '' ? family : `${family}|${subject}`;
}

/** A value as it is compared: letters and digits, lower case. */
export function plain(value: string): string {
  return value
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(?:the|an?|el|la|los|las|le|les)\s+/, '')
    .replace(/[^\p{L}\p{N}@./:+#-]+/gu, ' ')
    .trim()
    .replace(/[.:,]+$/, '');
}
