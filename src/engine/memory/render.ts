import type { MemoryKind } from '../../shared/memory.ts';
import { termsOf } from '../platform/words.ts';

/** Longest quotation of what was said; about 150 tokens. */
const MOST_CHARS = 600;
/** Marks with which clients and models tell roles and instructions apart; what is quoted must not look like them. */
const MARKS =
  /<(?=\/?\s*(?:metaclaw|system|assistant|user|human|developer|tool|function|instructions?|\|im_|antml|<<))/gi;
/** Invisible characters, and those that turn the direction of writing. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

const KIND_WORDS: Readonly<Record<MemoryKind, string>> = {
  episodic: 'event',
  semantic: 'fact',
  preference: 'preference',
  project_state: 'project',
  working_summary: 'summary of an earlier conversation',
  procedural_observation: 'way of working',
};

/** A memory as it is told to the model, on one line: what it is, when, and its words. No clock finer than a day. */
export function unitLine(unit: {
  kind: MemoryKind;
  content: string;
  observed_at: string;
  /** It took the place of an older value. */
  replaces: boolean;
}): string {
  const since = unit.replaces ? ', replaces what was said before' : '';
  return `[${KIND_WORDS[unit.kind]}, ${dayOf(unit.observed_at)}${since}] ${plainLine(unit.content)}`;
}

/** What was said, on one line; of a long text the part that has to do with the question. */
export function turnLine(
  turn: { role: 'user' | 'assistant'; speaker: string; text: string; said_at: string },
  question: string,
): string {
  const who = turn.speaker === turn.role || turn.speaker === '' ? `the ${turn.role}` : turn.speaker;
  return `[said by ${plainLine(who)}, ${dayOf(turn.said_at)}] ${plainLine(excerpt(turn.text, question))}`;
}

/** Short name of a memory for lists; without its words, so that it outlives them. */
export function titleOf(what: MemoryKind | 'said', at: string): string {
  return `${what === 'said' ? 'said' : KIND_WORDS[what]}, ${dayOf(at)}`;
}

/** The sentences around the words of the question, in their order, cut to what one memory may take. */
export function excerpt(text: string, question: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat.length <= MOST_CHARS) return flat;
  const wanted = new Set(termsOf(question.slice(0, MOST_CHARS * 4)).map(({ term }) => term));
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(flat)].map(
    ({ segment }) => segment.trim().slice(0, MOST_CHARS),
  );
  const worth = sentences.map(
    (sentence) => new Set(termsOf(sentence).flatMap(({ term }) => (wanted.has(term) ? [term] : []))).size,
  );
  // A sentence is better understood beside its neighbours.
  const order = sentences
    .map((_, at) => ({
      at,
      worth: (worth[at] ?? 0) + 0.3 * Math.max(worth[at - 1] ?? 0, worth[at + 1] ?? 0),
    }))
    .sort((a, b) => b.worth - a.worth || a.at - b.at);
  const taken = new Set<number>();
  let chars = 0;
  for (const { at } of order) {
    const more = (sentences[at]?.length ?? 0) + 3;
    if (taken.size > 0 && chars + more > MOST_CHARS) continue;
    taken.add(at);
    chars += more;
  }
  let result = '';
  let last = -1;
  for (const at of [...taken].sort((a, b) => a - b)) {
    result += at === last + 1 ? (at === 0 ? '' : ' ') : `${result === '' ? '' : ' '}… `;
    result += sentences[at];
    last = at;
  }
  return last < sentences.length - 1 ? `${result} …` : result;
}

function plainLine(text: string): string {
  return text.replace(INVISIBLE, '').replace(/\s+/g, ' ').replace(MARKS, '‹').trim();
}

function dayOf(iso: string): string {
  return iso.slice(0, 10);
}
