import { MEMORY_KINDS } from '../../../shared/memory.ts';
import { sameLanguage } from '../../platform/language.ts';
import type { TurnRow } from '../rows.ts';
import { figuresOf, isEcho, wordsOf } from './echo.ts';
import { isManipulative } from './manipulation.ts';
import type { Fact, ReadInput } from './reading.ts';
import { sentencesOf } from './sentences.ts';

const MOST_FACTS = 20;
const MOST_CHARS = 600;
const MOST_SUMMARY = 1600;
/** So many of a memory's words must stand in what it cites; the rest may be other words for the same. */
const LEAST_CITED = 0.5;
const LEAST_CITED_WIDE = 0.4;
const LEAST_SUMMED = 0.35;

/** Words with which a memory is put, and that nobody needs to have said. */
const FRAME = wordsOf(
  `user users person assistant client speaker prefer prefers preference like likes dislike dislikes want wants work
  works working live lives name named called call say said mention mentioned plan plans planning project use uses used
  using team currently recently date reported utilisateur utilisatrice préfère aime habite travaille s'appelle projet
  utilise usuario usuaria prefiere gusta vive trabaja llama proyecto usa 用户 使用者 喜欢 偏好 项目 使用 居住 叫做 计划
  ユーザー ユーザ 利用者 好み 好む プロジェクト 使用 予定`,
);
const NEGATION =
  /\b(?:no|not|never|none|without|cannot|neither|nor|avoids?|dislikes?|hates?|detests?|refuses?|stop(?:s|ped)?|dropped|instead of|rather than|allergic|intolerant|free|non|ne|n'|pas|jamais|plus|sans|aucune?|évite|déteste|ni|nunca|jamás|sin|ningún|ninguna|evita|odia|detesta|tampoco)\b|n't\b|(?:^|[^\p{L}])n['’]|[不没無无未非别莫勿]|ない|ません|なく|ず(?:に|、)|苦手|嫌/iu;
const RELATIVE =
  /\b(?:today|tomorrow|yesterday|tonight|next|last|this|ago|in \w+ (?:days?|weeks?|months?)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|demain|hier|aujourd'hui|prochaine?|dernière?|dans|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|mañana|ayer|hoy|próxim[oa]|pasad[oa]|dentro|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b|[今明昨后後前下上本来先][天日周週个個月年]|明日|昨日|来週|先週|星期|曜/iu;
const DATE = /\b\d{4}-\d{2}-\d{2}\b/g;
/** What a model writes that fills in a form instead of answering. */
const TEMPLATE =
  /^(?:the memory|memory|content|fact|one sentence|string|example|n\/a|none|null|unknown|todo|lorem ipsum)\W*$|<[\w ]{2,30}>|\{[\w ]{2,30}\}|\[(?!redacted)[a-z_ ]{2,30}\]|\.\.\.$|…$|\b(?:YYYY|what the conversation is about|numbers of the turns)\b/i;

/**
 * What of a model's answer may be believed. A memory must cite turns that were read, and its words, numbers and names
 * must stand there; it speaks the language of what it cites and says neither its opposite nor what was known before.
 */
export function checkFacts(items: readonly Record<string, unknown>[], input: ReadInput): Fact[] {
  const facts: Fact[] = [];
  for (const item of items) {
    const fact = checkFact(item, input);
    if (fact !== null && !facts.some(({ content }) => content === fact.content)) facts.push(fact);
    if (facts.length >= MOST_FACTS) break;
  }
  return facts;
}

/** A model's summary; null where it cannot be believed. */
export function checkSummary(content: unknown, { turns, before, summary }: ReadInput): string | null {
  const text = oneLine(content);
  if (text.length < 8 || text.length > MOST_SUMMARY || isManipulative(text) || TEMPLATE.test(text))
    return null;
  if (text.includes('[redacted')) return null;
  const said = [...before, ...turns].map((turn) => turn.text);
  const source = [summary ?? '', ...said].join('\n');
  const saidByUser = turns.filter(({ role }) => role === 'user').map((turn) => turn.text);
  if (!sameLanguage(text, saidByUser.join('\n'))) return null;
  if (wordsOf(saidByUser.join('\n')).size === 0) return null;
  return cited(text, source) >= LEAST_SUMMED && figuresAreSaid(text, source) ? text : null;
}

function checkFact(item: Record<string, unknown>, input: ReadInput): Fact | null {
  const content = oneLine(item.content);
  if (content.length < 3 || content.length > MOST_CHARS) return null;
  if (isManipulative(content) || TEMPLATE.test(content) || content.includes('[redacted')) return null;
  const sources = sourcesOf(item.turns ?? item.turn, input.turns);
  if (sources.length === 0) return null;
  const byUser = sources.filter(({ role }) => role === 'user');
  const isUsers = byUser.length > 0 && isSaid(content, byUser);
  if (!isUsers && !isSaid(content, sources)) return null;
  // What the assistant says of a memory that it was given is no news.
  if (!isUsers && isEcho(content, input.injected)) return null;
  const kind = kindOf(item.kind);
  const sure = Math.min(0.9, share(item.confidence, 0.8));
  return {
    kind,
    content,
    sources: sources.map(({ id }) => id),
    observedAt: sources[0]?.said_at ?? '',
    expiresAt: expiryOf(item.expires ?? item.valid_until, sources),
    importance: IMPORTANCE[kind],
    confidence: isUsers ? sure : Math.min(0.55, sure * 0.7),
  };
}

const IMPORTANCE: Readonly<Record<Fact['kind'], number>> = {
  preference: 0.8,
  procedural_observation: 0.8,
  project_state: 0.75,
  semantic: 0.75,
  episodic: 0.6,
};

/** The words of a memory stand in the turns that it cites, in the same language, and not with the opposite meaning. */
function isSaid(content: string, turns: readonly TurnRow[]): boolean {
  const source = turns.map(({ text }) => text).join('\n');
  const isWide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(content);
  return (
    sameLanguage(content, source) &&
    cited(content, source) >= (isWide ? LEAST_CITED_WIDE : LEAST_CITED) &&
    figuresAreSaid(content, source) &&
    namesAreSaid(content, source) &&
    !isOpposite(content, source)
  );
}

/** Share of a text's own words that stand in a source, 0 to 1. Names that are everyday words count too, as Nice. */
function cited(text: string, source: string): number {
  const own = [...wordsOf(text)].filter((term) => !FRAME.has(term));
  if (own.length === 0) return namesIn(text).length > 0 ? 1 : 0;
  const said = wordsOf(source);
  return own.filter((term) => said.has(term)).length / own.length;
}

/** A date may be reckoned from "tomorrow"; all other figures must have been said. */
function figuresAreSaid(text: string, source: string): boolean {
  const plain = RELATIVE.test(source) ? text.replace(DATE, '') : text;
  const said = new Set(figuresOf(source));
  return figuresOf(plain).every((figure) => said.has(figure));
}

/** Names must have been said. */
function namesAreSaid(content: string, source: string): boolean {
  const lower = source.toLowerCase();
  return namesIn(content).every((name) => lower.includes(name));
}

/** Names, and words written like names or paths, inside a sentence; in small letters. */
function namesIn(content: string): string[] {
  const found = content.match(NAMES) ?? [];
  return found
    .map((name) => name.toLowerCase().replace(/(?:'s|[.,;:])$/, ''))
    .filter((name) => name.length > 1 && !/^\d{4}-\d{2}-\d{2}$/.test(name))
    .filter((name) => !FRAME.has([...wordsOf(name)][0] ?? ''));
}

const NAMES = /(?<=[\p{L}\d,;:)"'’] )\p{Lu}[\p{L}\d.+#-]*|\b[\p{L}\d]+(?:[._/][\p{L}\d]+)+/gu;

/** What a memory comes from is negated, and the memory is not, or the other way round. */
function isOpposite(content: string, source: string): boolean {
  const own = wordsOf(content);
  const sentences = sentencesOf(source).map(({ text }) => text);
  const sentence = nearest(own, sentences);
  if (sentence === null) return false;
  const clause = nearest(own, sentence.split(CLAUSES)) ?? sentence;
  const isNegated = NEGATION.test(content);
  return NEGATION.test(sentence) !== isNegated && NEGATION.test(clause) !== isNegated;
}

const CLAUSES = /[,;:，；、：。]|\b(?:and|but|et|mais|y|pero)\b|但是?|而且?/iu;

/** The text that shares most words; null where none shares any. */
function nearest(words: ReadonlySet<string>, texts: readonly string[]): string | null {
  let best: { shared: number; text: string | null } = { shared: 0, text: null };
  for (const text of texts) {
    const shared = [...wordsOf(text)].filter((term) => words.has(term)).length;
    if (shared > best.shared) best = { shared, text };
  }
  return best.text;
}

function sourcesOf(value: unknown, turns: readonly TurnRow[]): TurnRow[] {
  const ids = new Set(
    (Array.isArray(value) ? value : [value]).map((id) => Number(String(id).replace(/^t/i, ''))),
  );
  return turns.filter(({ id }) => ids.has(id));
}

function kindOf(value: unknown): Fact['kind'] {
  const wanted = oneLine(value)
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  const kind = MEMORY_KINDS.find(
    (one) => one === wanted || (one === 'procedural_observation' && wanted === 'procedural'),
  );
  return kind === undefined || kind === 'working_summary' ? 'semantic' : kind;
}

/** A day in the future of what was said, as an ISO time at its end; null where the model names none. */
function expiryOf(value: unknown, sources: readonly TurnRow[]): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}/.test(value)) return null;
  const end = new Date(`${value.slice(0, 10)}T23:59:59.000Z`);
  if (Number.isNaN(end.getTime()) || end.toISOString() <= (sources.at(-1)?.said_at ?? '')) return null;
  return end.toISOString();
}

function share(value: unknown, otherwise: number): number {
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return number >= 0 && number <= 1 ? number : otherwise;
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
}
