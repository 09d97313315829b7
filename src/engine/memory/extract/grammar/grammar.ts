import type { Fact } from '../reading.ts';

/** A form of sentence that states something worth keeping. */
export interface Form {
  kind: Fact['kind'];
  pattern: RegExp;
  importance: number;
  confidence: number;
}

/**
 * How people say things in one language. Patterns are matched against one sentence, its quotations taken out and its
 * apostrophes made straight.
 */
export interface Grammar {
  question: RegExp;
  /** What is only supposed, or not certain. */
  supposed: RegExp;
  /** Begins with an order, which concerns the task at hand unless it is a standing one. */
  order: RegExp;
  /** Makes an order, or a habit, hold for all times. */
  standing: RegExp;
  /** A habit of the speaker alone, where the sentence is a standing one. */
  habit: RegExp;
  /** Asks to keep what follows; `aside` merely mentions it. */
  explicit: RegExp;
  aside: RegExp;
  /** Speaks of this text, this answer or this moment; a complaint. */
  passing: RegExp;
  /** Something does not work just now; how one feels. */
  trouble: RegExp;
  /** A day, date or time. */
  dated: RegExp;
  /** About the speaker, their people, or a known event. */
  own: RegExp;
  /** Decided before dates are looked at, and after. */
  forms: readonly Form[];
  weakForms: readonly Form[];
  /** The text that follows is to be worked on, and says nothing of its author. */
  material: RegExp;
  /** A play or a tale begins; and ends. */
  play: RegExp;
  tale: RegExp;
  playEnds: RegExp;
  /** What an assistant says of the project, and of the user. */
  told: RegExp;
  toldOfUser: RegExp;
  /** A whole message that confirms what was said before. */
  confirms: RegExp;
}

/** Letters of the languages here that part words by spaces; the class of all letters takes long to compile. */
const LETTERS = 'a-zà-ÿœ';

/**
 * One pattern of many alternatives; a space in them stands for white space, ` ?` for white space that may be missing,
 * and `\\p{L}` for a letter.
 */
export function oneOf(...alternatives: string[]): RegExp {
  const source = alternatives
    .join('|')
    .replaceAll(' ?', '\\s*')
    .replaceAll(' ', '\\s+')
    .replace(/(\[\^?)\\p\{L\}/g, `$1${LETTERS}`)
    .replaceAll('\\p{L}', `[${LETTERS}]`);
  return new RegExp(source, 'i');
}

/** A form of sentence; its weight where several memories are equally relevant, and how sure it is. */
export function form(
  kind: Form['kind'],
  importance: number,
  confidence: number,
  ...alternatives: string[]
): Form {
  return { kind, importance, confidence, pattern: oneOf(...alternatives) };
}
