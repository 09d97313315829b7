import { termsOf } from '../platform/words.ts';
import { keysOf, type Unit } from './units.ts';

/** Words that stand in requests of every kind: alone they say little, as part of a phrase they count in full. */
export const COMMON: ReadonlySet<string> = new Set(
  termsOf(
    `write code file work change create add start stop run time day week year list question answer read find check
    people person world change problem idea plan long short part point place order name number text page line best
    better different important simple easy quick easily explain example result change user team company
    project task data test error issue update review story fun recipe game favorite favourite buy learn teach small big
    tool step sentence word message call send open close move turn bring hold happen wrong fix build reply
    ecrire ecris code projet temps combien cuanto cuanta cuantos cuantas probleme exemple escribir escribe codigo proyecto tiempo problema ejemplo
    问题 时间 一个 工作 项目 内容 方法 写一 今天 明天 推荐 介绍 解释 数据 問題 時間 仕事 方法 今日 明日 書`,
  ).map(({ term }) => term),
);
/** One ideograph beside an idea is a bound part of a word and says nothing alone. */
export function phraseKeys(units: readonly Unit[]): string[] {
  const keys = new Set(units.flatMap(keysOf));
  const hasIdea = units.some(({ idea }) => idea !== null);
  return [...keys].filter((key) => !hasIdea || [...key].length > 1);
}

/** True when function words are what makes a phrase: without them one word is left, or only common ones. */
export function livesFromFunctionWords(
  phrase: string,
  units: readonly Unit[],
  keys: readonly string[],
): boolean {
  if (keys.every((key) => [...key].length === 1 || COMMON.has(key))) return true;
  if (keys.length > 1) return false;
  const letters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '').length;
  const [only] = units;
  return only !== undefined && letters(phrase) > letters(only.surface);
}

const WIDE = '[\\u2e80-\\u9fff\\uac00-\\ud7af]';
const BESIDE_WIDE = new RegExp(`(?<=${WIDE}) +| +(?=${WIDE})`, 'g');

/** Comparable for word-for-word phrases: folded, one space between words and at both ends, none beside ideographs. */
export function plain(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}ー]+/gu, ' ')
    .trim();
  return ` ${words} `.replace(BESIDE_WIDE, '');
}

/** What a word-for-word phrase is found by: its first letters at a word's start, or its first two ideographs. */
export function startOf(text: string, at: number): string {
  return text.slice(at, at + (text[at] === ' ' ? 4 : 2));
}
