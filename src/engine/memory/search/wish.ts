import { type Nearness, nearnessTo } from './dates.ts';
import { groupsOf, namesIn, type QueryGroup } from './terms.ts';

/** What a question asks for. */
export interface Wish {
  groups: QueryGroup[];
  /** Words that may be a speaker's name, folded. */
  names: string[];
  asksWhen: boolean;
  asksAmount: boolean;
  /** Whose words it asks for, where it says so. */
  role: 'user' | 'assistant' | null;
  /** It names a time. */
  isDated: boolean;
  /** How near a day (since 1970) is to a time that the question names: 0 to 1; 0 when it names none. */
  nearness: Nearness;
}

const ASKS_WHEN =
  /\b(?:when|what (?:day|date|month|year|time)|which (?:day|month|year)|how long|since when|quand|cuándo|cuando|wann|quando)\b|什么时候|何时|几号|哪天|哪年|いつ|언제/iu;
const ASKS_AMOUNT =
  /\bhow (?:many|much|often|old|long|far|big)\b|\bcombien\b|\bcu[áa]nt[oa]s?\b|\bwie ?viele?\b|\bquant[oie]\b|\bquantos\b|多少|几|いくつ|いくら|何人|몇|얼마/iu;
const OF_ASSISTANT =
  /\b(?:you (?:said|told|suggested|recommended|mentioned|proposed|advised|gave|wrote|explained)|did you (?:say|tell|suggest|recommend|mention|propose|advise|give|write|explain)|your (?:advice|suggestion|recommendation|answer))\b/iu;
const OF_USER = /\b(?:i (?:said|told|mentioned|asked|wrote)|did i (?:say|tell|mention|ask|write))\b/iu;

/** Longer questions are read at both ends: that is where people say what they want. */
const MOST_CHARS = 1_600;

export function wishOf(question: string, nowMs: number): Wish {
  const text =
    question.length <= MOST_CHARS
      ? question
      : `${question.slice(0, MOST_CHARS / 2)} ${question.slice(-MOST_CHARS / 2)}`;
  const nearness = nearnessTo(text, nowMs);
  return {
    groups: groupsOf(text),
    names: [...new Set(namesIn(text))],
    asksWhen: ASKS_WHEN.test(text),
    asksAmount: ASKS_AMOUNT.test(text),
    role: OF_ASSISTANT.test(text) ? 'assistant' : OF_USER.test(text) ? 'user' : null,
    isDated: nearness !== null,
    nearness: nearness ?? (() => 0),
  };
}
