import type { TurnDetail, TurnFeedback } from '../../shared/model.ts';
import { redact } from '../platform/redact.ts';
import { termsOf } from '../platform/words.ts';
import { type ToolStep, toolTrail } from './tool-trail.ts';

/** Why a turn may teach something. */
type Signal =
  | 'feedback'
  | 'correction'
  | 'instruction'
  | 'recovered'
  | 'error'
  | 'repeated'
  | 'praise'
  | 'substantive';

/** A request as the evolver reads it: the user's words and the agent's answer, nothing else. */
export interface Lesson {
  /** The turn that brought the request. */
  turnId: string;
  seq: number;
  signal: Signal;
  user: string;
  /** The answer that the user reacted to; null when the signal is not a reaction. */
  answerBefore: string | null;
  answer: string;
  /** What the user said of it afterwards; null when nothing. */
  feedback: { label: 'good' | 'bad'; text: string } | null;
  /** Uses of tools, around those that failed; empty where none did. */
  tools: ToolStep[];
}

const MOST_TOOLS = 6;
/** Bodies are large: tools are looked at in so many requests, the newest. */
const MOST_BODIES = 40;
const MOST_LESSONS = 8;
const USER_CHARS = 1500;
const ANSWER_CHARS = 1200;

const SIGNALS: readonly { signal: Signal; weight: number; pattern: RegExp }[] = [
  {
    signal: 'instruction',
    weight: 4,
    pattern:
      /\b(?:always|never|from now on|in (?:the )?future|every time|next time|remember (?:that|to|this)|make sure (?:to|you)|as a rule|we (?:usually|normally)|my preference|i prefer|please keep in mind)\b|以后|今后|每次|总是|永远不要|从现在起|记住|下次|我喜欢|我们(?:一般|通常)|いつも|今後|毎回|次から|覚えて|必ず|\bsiempre\b|\bnunca\b|de ahora en adelante|recuerda que|la próxima vez|prefiero|\btoujours (?!la même|le même|pas)|\bjamais\b|désormais|à l'avenir|souviens-toi|la prochaine fois|je préfère|a partir de ahora|cada vez que|no olvides|en adelante|à partir de maintenant|dorénavant|à chaque fois|n'oublie pas|これから(?:は|も)|次回から|常に|一律|务必|始终|每当|\bimmer\b|\bniemals\b|ab jetzt|merk dir/i,
  },
  {
    signal: 'correction',
    weight: 4,
    pattern:
      /^\s*(?:no|nope|wrong|stop|not (?:that|like that|quite)|actually)\b|\b(?:that'?s|this is|it'?s) (?:not (?:what|right|correct|how)|wrong|incorrect)|\b(?:isn'?t|wasn'?t) (?:what|right|correct|how)|\byou were supposed to\b|\bnot what i (?:asked|meant|wanted)|\bi (?:said|told you|asked (?:you )?(?:for|to)|meant)\b|\binstead of\b|\byou (?:forgot|missed|should(?:n'?t)? have|ignored|misunderstood|changed too)|\bdon'?t do that|\bundo that|不对|不是这样|错了|我说的是|我的意思|不要这样|你(?:忘|漏)了|应该是|别这样|違います|違う|そうじゃな|ではなく|じゃなくて|間違|忘れて(?:い)?ます|我要的(?:是|不是)|搞错|我让你|頼んだのは|言ったのは|それではありません|と言った(?:のに|はず)|\bno (?:es|era) (?:eso|correcto|lo que)|^\s*no, |así no\b|te pedí|te (?:has )?equivoca|está mal|te dije|quería decir|en lugar de|olvidaste|\bce n'est pas\b|c'est faux|\bnon[, ]|je t'(?:ai|avais) (?:dit|demandé)|c'est pas (?:ça|ce que)|ce n'était pas|tu n'as pas|tu t'es trompé|je voulais dire|au lieu de|tu as oublié|\bnein\b|\bfalsch\b|ich meinte|stattdessen/i,
  },
  {
    signal: 'error',
    weight: 2,
    pattern:
      /\b(?:error|exception|traceback|fail(?:s|ed|ing)?|crash(?:es|ed)?|broken|does(?:n'?t| not) work|not working|still (?:the same|broken|not))\b|报错|失败|不行|还是不|崩溃|出错|エラー|動かない|失敗|落ちる|\bfalla\b|no funciona|\berreur\b|ne (?:marche|fonctionne) (?:toujours )?pas|\bfehler\b|funktioniert nicht/i,
  },
  {
    signal: 'praise',
    weight: 1.5,
    pattern:
      /\b(?:perfect|exactly (?:what|right|like)|that (?:worked|did it|fixed it)|works now|much better)\b|完美|就是这样|太好了|可以了|完璧|うまくいき|\bperfecto\b|\bparfait\b|\bperfekt\b/i,
  },
];

/** What the user said of turns, and which of it is newer than the last look at the session. */
export interface HeardFeedback {
  byTurn: ReadonlyMap<string, TurnFeedback>;
  /** ISO time; null when the session was never looked at. */
  since: string | null;
}

const NOTHING_HEARD: HeardFeedback = { byTurn: new Map(), since: null };

/**
 * The requests of a session that teach, at most 8, in their order: feedback, corrections, standing instructions, tools
 * that failed and then worked, errors, repeated requests and praise; where there are none, the substantive ones. Empty
 * for small talk. What began up to `afterSeq` has been read before and serves only as what a reaction reacts to, unless
 * there is newer feedback on it.
 */
export function pickLessons(
  turns: readonly TurnDetail[],
  afterSeq: number,
  heard: HeardFeedback = NOTHING_HEARD,
): Lesson[] {
  const exchanges = exchangesOf(turns);
  const said = exchanges.map(({ turn }) => termsIn(turn.userText));
  const rated: { lesson: Lesson; weight: number }[] = [];
  for (const [at, exchange] of exchanges.entries()) {
    const { turn, answer } = exchange;
    const told = exchange.turnIds.map((id) => heard.byTurn.get(id)).findLast((one) => one !== undefined);
    const isNewlyTold = told !== undefined && (heard.since === null || told.at > heard.since);
    if ((turn.seq <= afterSeq && !isNewlyTold) || turn.userText.trim() === '') continue;
    const mayLook = exchange.turnIds.length > 1 && at >= exchanges.length - MOST_BODIES;
    const tools = mayLook ? aroundFailures(toolTrail(exchange.last.requestBody)) : [];
    const terms = said[at] ?? new Set();
    const found = rate(turn.userText, answer, terms, {
      told,
      tools,
      repeated: () => isRepeated(terms, said.slice(0, at)),
    });
    if (!found) continue;
    const before = exchanges[at - 1];
    const reacts = !['substantive', 'recovered', 'feedback'].includes(found.signal) && before !== undefined;
    rated.push({
      weight: found.weight,
      lesson: {
        turnId: turn.id,
        seq: turn.seq,
        signal: found.signal,
        user: ends(redact(turn.userText).text, USER_CHARS),
        answerBefore: reacts ? ends(redact(before.answer).text, ANSWER_CHARS) : null,
        answer: ends(redact(answer).text, ANSWER_CHARS),
        feedback: told ? { label: told.label, text: told.text } : null,
        tools,
      },
    });
  }
  return rated
    .sort((a, b) => b.weight - a.weight || a.lesson.seq - b.lesson.seq)
    .slice(0, MOST_LESSONS)
    .map(({ lesson }) => lesson)
    .sort((a, b) => a.seq - b.seq);
}

/** True when a request asks for much the same as one of the earlier ones. */
export function isRepeated(terms: ReadonlySet<string>, earlier: readonly ReadonlySet<string>[]): boolean {
  if (terms.size < 4) return false;
  return earlier.some(
    (known) => known.size >= 4 && sharedTerms(terms, known) >= 0.7 * Math.min(terms.size, known.size),
  );
}

/** How a user's words take up the answer before them; null when they do not. */
export function reactionOf(text: string): 'correction' | 'praise' | null {
  const says = (wanted: Signal) =>
    SIGNALS.some(({ signal, pattern }) => signal === wanted && pattern.test(text));
  if (says('correction')) return 'correction';
  return says('praise') ? 'praise' : null;
}

/** The terms of a request, to be compared with those of others. */
export function termsIn(text: string): Set<string> {
  return new Set(termsOf(text).map(({ term }) => term));
}

/** The failures, each with what worked after it; empty when nothing failed. */
function aroundFailures(steps: readonly ToolStep[]): ToolStep[] {
  const first = steps.findIndex(({ failed }) => failed);
  if (first < 0) return [];
  const from = steps.slice(first);
  return from.length <= MOST_TOOLS
    ? from
    : [...from.slice(0, MOST_TOOLS / 2), ...from.slice(-MOST_TOOLS / 2)];
}

/** A request of the user, by the turn that brought it, and the last thing that was said to it. */
export interface Exchange {
  turn: TurnDetail;
  answer: string;
  /** The turns of its tool loop, the first one included. */
  turnIds: string[];
  last: TurnDetail;
}

/** The requests of a session in order. Each round of a tool loop is a turn that carries the same words again. */
export function exchangesOf(turns: readonly TurnDetail[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const turn of turns.filter(({ kind }) => kind === 'main').sort((a, b) => a.seq - b.seq)) {
    const open = exchanges.at(-1);
    if (open?.turn.userText !== turn.userText) {
      exchanges.push({ turn, answer: turn.replyText, turnIds: [turn.id], last: turn });
      continue;
    }
    if (turn.replyText.trim() !== '') open.answer = turn.replyText;
    open.turnIds.push(turn.id);
    open.last = turn;
  }
  return exchanges;
}

interface Heard {
  told: TurnFeedback | undefined;
  tools: readonly ToolStep[];
  repeated: () => boolean;
}

function rate(
  text: string,
  answer: string,
  terms: ReadonlySet<string>,
  { told, tools, repeated }: Heard,
): { signal: Signal; weight: number } | null {
  if (told) return { signal: 'feedback', weight: told.text !== '' ? 6 : told.label === 'bad' ? 4 : 1.5 };
  for (const { signal, weight, pattern } of SIGNALS)
    if (weight >= 4 && pattern.test(text)) return { signal, weight };
  const failedAt = tools.findLastIndex(({ failed }) => failed);
  if (failedAt >= 0 && failedAt < tools.length - 1 && answer.trim() !== '')
    return { signal: 'recovered', weight: 2.5 };
  for (const { signal, weight, pattern } of SIGNALS) if (pattern.test(text)) return { signal, weight };
  if (repeated()) return { signal: 'repeated', weight: 2 };
  const substantive = terms.size >= 4 || text.trim().length >= 60;
  return substantive && answer.trim() !== '' ? { signal: 'substantive', weight: 0.5 } : null;
}

/** How many terms two texts share. */
export function sharedTerms(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Long texts keep both ends: that is where people say what they want. */
function ends(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 5) / 2);
  return `${text.slice(0, half).trimEnd()} … ${text.slice(-half).trimStart()}`;
}
