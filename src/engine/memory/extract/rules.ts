import type { TurnRow } from '../rows.ts';
import { isEcho } from './echo.ts';
import { CHINESE } from './grammar/chinese.ts';
import { ENGLISH } from './grammar/english.ts';
import { FRENCH } from './grammar/french.ts';
import type { Form, Grammar } from './grammar/grammar.ts';
import { JAPANESE } from './grammar/japanese.ts';
import { SPANISH } from './grammar/spanish.ts';
import { isManipulative } from './manipulation.ts';
import type { Fact, ReadInput, Reading } from './reading.ts';
import { clausesOf, type Sentence, sentencesOf, toSentence } from './sentences.ts';
import { summaryByRules } from './summary.ts';

type Found = Omit<Form, 'pattern'> & { text: string };

const MOST_FACTS = 12;
const MOST_TOLD = 2;
const LATIN: readonly Grammar[] = [ENGLISH, FRENCH, SPANISH];

/**
 * Finds what is worth remembering without a model: sentences that state a preference, a fact, how a project stands,
 * how to work, or what happens when, kept word for word. Questions, suppositions, orders for the task at hand, pasted
 * matter and play are left alone. It pauses between turns, since it runs where answers are relayed.
 */
export async function readByRules(input: ReadInput): Promise<Reading> {
  await prepared();
  const facts: Fact[] = [];
  let playing = false;
  let before: TurnRow | null = input.before.at(-1) ?? null;
  for (const turn of input.turns) {
    await pause();
    const grammars = grammarsOf(turn.text);
    if (turn.role === 'user') {
      if (playing && says(grammars, 'playEnds', turn.text)) playing = false;
      else if (!playing && says(grammars, 'play', turn.text)) playing = true;
    }
    if (!playing) {
      const found =
        turn.role === 'user' ? saidByUser(turn.text, grammars) : saidByAssistant(turn.text, grammars);
      facts.push(...found.filter(isNews(turn, input, facts)).map((one) => toFact(one, [turn])));
      if (turn.role === 'user' && before?.role === 'assistant' && isConfirmation(turn.text, grammars))
        facts.push(
          ...aboutUser(before.text)
            .filter(isNews(before, input, facts))
            .map((one) => toFact(one, [before as TurnRow, turn])),
        );
    }
    before = turn;
  }
  return { by: 'rules', facts, summary: summaryByRules(input) };
}

let preparing: Promise<void> | null = null;

/** Patterns are compiled when they are first used, which takes long for all of them at once. */
function prepared(): Promise<void> {
  preparing ??= (async () => {
    for (const grammar of [...LATIN, CHINESE, JAPANESE])
      for (const part of Object.values(grammar) as (RegExp | readonly Form[])[])
        for (const pattern of part instanceof RegExp ? [part] : part.map((form) => form.pattern)) {
          // Once for texts of narrow and of wide characters, and once more, when they are compiled for speed.
          for (const text of ['a', 'a', '字', '字']) pattern.test(text);
          await pause();
        }
  })();
  return preparing;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What the assistant says again of a memory that it was given is no news, nor is what was found already. */
function isNews(turn: TurnRow, { injected }: ReadInput, facts: readonly Fact[]): (found: Found) => boolean {
  return ({ text }) =>
    !isManipulative(text) &&
    !text.includes('[redacted') &&
    !(turn.role === 'assistant' && isEcho(text, [...injected, ...facts.map(({ content }) => content)]));
}

function toFact({ text, kind, importance, confidence }: Found, turns: readonly TurnRow[]): Fact {
  return {
    kind,
    content: text,
    importance,
    confidence,
    sources: turns.map(({ id }) => id),
    observedAt: turns[0]?.said_at ?? '',
    expiresAt: null,
  };
}

/** The grammars that a text may be understood by. Words of Latin languages hardly ever mislead one another. */
function grammarsOf(text: string): readonly Grammar[] {
  const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  if (kana > han / 10 && kana > 1) return [JAPANESE];
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return han * 3 >= latin && han > 0 ? [CHINESE] : LATIN;
}

function says(
  grammars: readonly Grammar[],
  what: { [K in keyof Grammar]: Grammar[K] extends RegExp ? K : never }[keyof Grammar],
  text: string,
): boolean {
  return grammars.some((grammar) => grammar[what].test(text));
}

function isConfirmation(text: string, grammars: readonly Grammar[]): boolean {
  return says(grammars, 'confirms', text.trim());
}

function saidByUser(text: string, grammars: readonly Grammar[]): Found[] {
  const sentences = sentencesOf(text);
  const first = sentences[0];
  if (!first || says(grammars, 'tale', first.bare)) return [];
  // What stands behind "Translate:" are somebody else's words.
  const isMaterial = /[:：\n]/.test(text) && says(grammars, 'material', first.bare);
  if (isMaterial) return [];
  return unique(sentences.flatMap((sentence) => statementsIn(sentence, grammars))).slice(0, MOST_FACTS);
}

/** A question or an order may come with a statement: "I live in Lyon, what is the weather like?" */
function statementsIn(sentence: Sentence, grammars: readonly Grammar[]): Found[] {
  if (says(grammars, 'supposed', sentence.bare) && !says(grammars, 'standing', sentence.bare)) return [];
  const whole = statement(sentence, grammars);
  if (whole) return [whole];
  const isAsking = says(grammars, 'question', sentence.bare) || says(grammars, 'order', sentence.bare);
  if (!isAsking) return [];
  const clauses = clausesOf(sentence.text);
  if (clauses.length < 2) return [];
  const last = clauses.at(-1) ?? '';
  // "We use Postgres, right?" wants to know it.
  if (last.replace(/[^\p{L}]/gu, '').length <= 12 && says(grammars, 'question', sentence.bare)) return [];
  return clauses.flatMap((clause) => statement(toSentence(clause), grammars) ?? []);
}

/** What a sentence states, if it is worth keeping. */
function statement(sentence: Sentence, grammars: readonly Grammar[]): Found | null {
  const { bare } = sentence;
  if (says(grammars, 'question', bare) || lengthOf(bare) < 8) return null;
  for (const grammar of grammars) {
    const found = statementIn(bare, grammar, (what) => says(grammars, what, bare));
    if (found) return { ...found, text: sentence.text };
  }
  return null;
}

function statementIn(
  bare: string,
  grammar: Grammar,
  any: (what: 'order' | 'passing' | 'trouble' | 'supposed') => boolean,
): Omit<Form, 'pattern'> | null {
  const match = (forms: readonly Form[]) => forms.find(({ pattern }) => pattern.test(bare));
  const strong = match(grammar.forms);
  if (grammar.explicit.test(bare)) {
    const kind = strong?.kind ?? match(grammar.weakForms)?.kind;
    const isWork = kind === undefined && grammar.standing.test(bare);
    return {
      kind: kind ?? (isWork ? 'procedural_observation' : grammar.dated.test(bare) ? 'episodic' : 'semantic'),
      importance: 0.9,
      confidence: 0.9,
    };
  }
  if (any('passing') || any('supposed')) return null;
  if (grammar.standing.test(bare)) {
    if (grammar.habit.test(bare)) return { kind: 'preference', importance: 0.75, confidence: 0.75 };
    if (strong) return strong;
    const rest = bare.replace(grammar.standing, ' ').trim();
    if (
      any('order') ||
      grammar.order.test(rest) ||
      hasRule(bare, grammar) ||
      beginsWith(bare, grammar.standing)
    )
      return { kind: 'procedural_observation', importance: 0.82, confidence: 0.8 };
  }
  if (any('order') && strong?.kind !== 'procedural_observation') return null;
  if (strong) return strong;
  if (any('trouble')) return null;
  if (grammar.dated.test(bare) && grammar.own.test(bare) && lengthOf(bare) >= 12)
    return { kind: 'episodic', importance: 0.6, confidence: 0.7 };
  return match(grammar.weakForms) ?? null;
}

function beginsWith(bare: string, pattern: RegExp): boolean {
  return (pattern.exec(bare)?.index ?? bare.length) <= 2;
}

/** A standing sentence is a rule where it says what must be, or what we do. */
function hasRule(bare: string, grammar: Grammar): boolean {
  return (
    RULE.test(bare) ||
    grammar.weakForms.some(({ kind, pattern }) => kind === 'procedural_observation' && pattern.test(bare))
  );
}

const RULE =
  /\b(?:we|our team|you|must|should|have to|has to|needs? to|nous|on|il faut|doit|doivent|hay que|debe|deben|tienen que)\b|(?:我们|要|必须|不要|别|用|使用|应该)|(?:ください|下さい|ます|すること|べき|である|です)[。]?$/iu;

function saidByAssistant(text: string, grammars: readonly Grammar[]): Found[] {
  const found = sentencesOf(text)
    .filter(
      ({ bare }) =>
        !says(grammars, 'question', bare) &&
        !says(grammars, 'supposed', bare) &&
        !says(grammars, 'trouble', bare) &&
        says(grammars, 'told', bare),
    )
    .map((sentence) => ({
      text: sentence.text,
      kind: 'project_state' as const,
      importance: 0.5,
      confidence: 0.5,
    }));
  return unique(found).slice(0, MOST_TOLD);
}

/** What the assistant said of the user, where the user then says that it is so. */
function aboutUser(text: string): Found[] {
  const grammars = grammarsOf(text);
  const found = sentencesOf(text)
    .filter(
      ({ bare }) =>
        !says(grammars, 'question', bare) &&
        !says(grammars, 'supposed', bare) &&
        !says(grammars, 'passing', bare) &&
        says(grammars, 'toldOfUser', bare),
    )
    .map((sentence) => ({
      text: sentence.text,
      kind: 'semantic' as const,
      importance: 0.6,
      confidence: 0.65,
    }));
  return unique(found).slice(0, MOST_TOLD);
}

function unique(found: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return found.filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** Ideographs say more each. */
function lengthOf(text: string): number {
  const wide =
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return text.length + wide;
}
