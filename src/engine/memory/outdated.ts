import { termsOf } from '../platform/words.ts';
import { ADDITION, CHANGE, FILLER, NEGATION, QUESTION } from './slots/phrases.ts';

/** A text as far as another may have taken its place. */
export interface Claims {
  /** What it says, a statement each; questions say nothing. */
  statements: readonly Claim[];
}

interface Claim {
  /** It says itself that something became otherwise, and does not only add to it. */
  changes: boolean;
  negated: boolean;
  /** What it is about, names too. */
  topic: ReadonlySet<string>;
  /** Numbers, versions, days and months. */
  values: ReadonlySet<string>;
  names: ReadonlySet<string>;
  /** Words that tell one thing from another of its kind. */
  marks: ReadonlySet<string>;
}

const SENTENCE = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const NUMBER = /(?<![\p{L}\p{N}])v?\d+(?:[.,:/\s-]\d+)*/giu;
const DAY =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:lun|mar|mercre|jeu|vendre|same)di\b|dimanche|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b|(?:星期|周|礼拜)[一二三四五六日天]|[月火水木金土日]曜/giu;
/** Changes of a size, beside the words of `CHANGE`. */
const SIZED =
  /\b(?:raised|lowered|increased|decreased|reduced|extended|shortened|doubled|halved|grew|augmenté\p{L}*|relevé\p{L}*|baissé\p{L}*|réduit\p{L}*|subid[oa]s?|subimos|bajad[oa]s?|bajamos|aumentad[oa]s?|aumentamos|reducid[oa]s?)\b|提高|提升|降低|下调|上调|涨|減ら|増や|上が|下が|上げ|下げ/iu;
/** Two of a kind that exist side by side; what is said of one says nothing of the other. */
const MARK =
  /\b(?:staging|production|prod|preprod|test|dev|development|local|demo|home|house|work|office|private|personal|mobile|landline|web|ios|android|frontend|backend|billing|search|orders?|invoices?|mother|mom|mum|father|dad|parents?|wife|husband|partner|son|daughter|kids?|sister|brother|boss|neighbou?r|friend|landlord|casa|oficina|trabajo|madre|padre|mujer|marido|hij[oa]|herman[oa]|jef[ea]|maison|bureau|travail|mère|père|femme|mari|fils|fille|sœur|frère|pré-?production|recette)\b|家里|公司|办公室|妈妈|母亲|爸爸|父亲|妻子|丈夫|儿子|女儿|测试|生产|预发|自宅|会社|職場|母|父|妻|夫|息子|娘|本番|検証/giu;
const NAME = /(?<=[\p{L}\p{N},;:)]\s)\p{Lu}[\p{L}\p{N}'’-]*/gu;
/** What stands behind a comma may be beside the point, or the point. */
const PART = /[,;，；、]/u;
const MONTH = /^(?:january|february|march|april|may|june|july|august|september|october|november|december)$/;
/** Of a long text, the part that is read: about half a millisecond. */
const MOST_CHARS = 600;
/** Share of the smaller subject that both have. */
const ENOUGH = 0.5;

/** Whether a text may say that something became otherwise; costs little. */
export function tellsChange(text: string): boolean {
  const start = text.slice(0, MOST_CHARS);
  return has(CHANGE, start) || SIZED.test(start);
}

/** Reads what the beginning of a text claims, for `outdates`. */
export function claimsOf(text: string): Claims {
  const statements: Claim[] = [];
  for (const { segment } of SENTENCE.segment(text.slice(0, MOST_CHARS).normalize('NFKC'))) {
    if (has(QUESTION, segment)) continue;
    const parts = segment.split(PART).filter((part) => part.trim() !== '');
    for (const part of parts.length > 1 ? [segment, ...parts] : [segment]) statements.push(claimOf(part));
  }
  return { statements };
}

/**
 * Whether a later text says itself that what an earlier one says became otherwise: it names the change, is about the
 * same thing, and has another value for it, or denies it. Never for another thing of the same kind (staging and
 * production, two people), and not for what is only added.
 */
export function outdates(later: Claims, earlier: Claims): boolean {
  return later.statements.some(
    (now) => now.changes && earlier.statements.some((before) => takesThePlace(now, before)),
  );
}

function takesThePlace(now: Claim, before: Claim): boolean {
  if (!sameSet(now.marks, before.marks)) return false;
  const shared = [...now.topic].filter((word) => before.topic.has(word)).length;
  const least = Math.min(now.topic.size, before.topic.size);
  const isAbout = least > 0 && shared / least >= ENOUGH && (shared >= 2 || least === 1);
  const gone = [...before.values].filter((value) => !now.values.has(value));
  const come = [...now.values].filter((value) => !before.values.has(value));
  // It names the old value beside the new one: from this to that.
  if (before.values.size > 0 && gone.length === 0 && come.length > 0) return shared >= 1;
  if (!isAbout) return false;
  const others = [...before.names].filter((name) => !now.names.has(name)).length;
  const newcomers = [...now.names].filter((name) => !before.names.has(name)).length;
  if (before.values.size > 0 && now.values.size > 0)
    return gone.length === before.values.size && (others === 0 || newcomers === 0);
  if (now.negated !== before.negated) return true;
  return before.values.size === 0 && now.values.size === 0 && others > 0 && newcomers > 0;
}

function claimOf(text: string): Claim {
  const values = new Set(
    [...(text.match(NUMBER) ?? []), ...(text.match(DAY) ?? [])].map((value) =>
      value.toLowerCase().replace(/s$/, '').replace(/\s+/g, ''),
    ),
  );
  const names = new Set(
    (text.replace(DAY, ' ').match(NAME) ?? [])
      .map((name) => name.toLowerCase())
      .filter((name) => !MONTH.test(name)),
  );
  const plain = text
    .replace(NUMBER, ' ')
    .replace(DAY, ' ')
    .replace(CHANGE, ' ')
    .replace(NEGATION, ' ')
    .replace(FILLER, ' ');
  return {
    changes: (has(CHANGE, text) || SIZED.test(text)) && !has(ADDITION, text),
    negated: has(NEGATION, text),
    topic: new Set(termsOf(plain).map(({ term }) => term)),
    values,
    names,
    marks: new Set((text.match(MARK) ?? []).map((mark) => mark.toLowerCase().replace(/s$/, ''))),
  };
}

/** `phrases` are global, and remember where they stopped. */
function has(phrases: RegExp, text: string): boolean {
  phrases.lastIndex = 0;
  return phrases.test(text);
}

function sameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((entry) => other.has(entry));
}
