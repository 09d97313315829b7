import { parse as inGerman } from 'chrono-node/de';
import { parse as inEnglish } from 'chrono-node/en';
import { parse as inSpanish } from 'chrono-node/es';
import { parse as inFrench } from 'chrono-node/fr';
import { parse as inJapanese } from 'chrono-node/ja';
import { parse as inChinese } from 'chrono-node/zh';

/** Days since 1970, both inclusive. */
interface Period {
  from: number;
  to: number;
  /** The question names no year, so the same days of any year are meant. */
  isYearly: boolean;
}

const DAY_MS = 86_400_000;
const YEAR = /(?<![\d.,:/-])(?:19|20)\d\d(?![\d:/-])/gu;
/** Things are told of on the day or soon after it, and sometimes announced. */
const TOLD_AFTER_DAYS = 15;
const TOLD_BEFORE_DAYS = 4;
const TOLD_AFTER = 0.6;
const TOLD_BEFORE = 0.4;

/** Which of the days that a question names are near to a day, 0 to 1. */
export type Nearness = (day: number) => number;

/** How near days are to the times that a question names; null when it names none. */
export function nearnessTo(question: string, nowMs: number): Nearness | null {
  const periods = periodsIn(question, nowMs);
  if (periods.length === 0) return null;
  return (day) => {
    let most = 0;
    for (const period of periods) most = Math.max(most, nearnessOf(day, period));
    return most;
  };
}

function nearnessOf(day: number, { from, to, isYearly }: Period): number {
  if (!isYearly) return withinOf(day, from, to);
  const years = Math.round((day - from) / 365.25) * 365.25;
  const shift = Math.round(years);
  return withinOf(day, from + shift, to + shift);
}

function withinOf(day: number, from: number, to: number): number {
  if (day >= from && day <= to) return 1;
  if (day > to) return Math.max(0, TOLD_AFTER * (1 - (day - to) / TOLD_AFTER_DAYS));
  return Math.max(0, TOLD_BEFORE * (1 - (from - day) / TOLD_BEFORE_DAYS));
}

function periodsIn(question: string, nowMs: number): Period[] {
  const periods: Period[] = [];
  let rest = question;
  for (const { text, start, end } of parserOf(question)(question, new Date(nowMs))) {
    const first = start.date();
    const last = (end ?? start).date();
    const hasDay = start.isCertain('day') || start.isCertain('weekday');
    if (!hasDay && !start.isCertain('month') && !start.isCertain('year')) continue;
    rest = rest.replace(text, ' ');
    periods.push({
      from: dayOf(hasDay ? first : start.isCertain('month') ? monthOf(first, 0) : yearOf(first, 0)),
      to:
        dayOf(hasDay ? last : start.isCertain('month') ? monthOf(last, 1) : yearOf(last, 1)) -
        (hasDay ? 0 : 1),
      isYearly: !start.isCertain('year') && !start.isCertain('weekday'),
    });
  }
  for (const [year] of rest.matchAll(YEAR)) {
    const first = new Date(Number(year), 0, 1, 12);
    periods.push({ from: dayOf(first), to: dayOf(yearOf(first, 1)) - 1, isYearly: false });
  }
  return periods;
}

type Parse = typeof inEnglish;

const FRENCH =
  /janv|févr|mars|avril|\bmai\b|juin|juil|août|septembre|octobre|novembre|décembre|hier|dernier|dernière|il y a/iu;
const SPANISH =
  /enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|ayer|pasad[oa]|hace/iu;
const GERMAN =
  /januar|februar|märz|\bmai\b|juni|juli|oktober|dezember|gestern|letzte|vor \p{L}+ (?:tagen|wochen|monaten|jahren)/iu;

function parserOf(question: string): Parse {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question)) return inJapanese;
  if (/\p{Script=Han}/u.test(question)) return inChinese;
  if (FRENCH.test(question)) return inFrench;
  if (SPANISH.test(question)) return inSpanish;
  if (GERMAN.test(question)) return inGerman;
  return inEnglish;
}

function dayOf(date: Date): number {
  return Math.floor(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS);
}

function monthOf(date: Date, later: number): Date {
  return new Date(date.getFullYear(), date.getMonth() + later, 1, 12);
}

function yearOf(date: Date, later: number): Date {
  return new Date(date.getFullYear() + later, 0, 1, 12);
}
