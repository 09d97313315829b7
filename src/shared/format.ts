/** Numbers, times and durations as screens, tray and CLI write them; pure, with the locale passed in. */

/** `0.84 s`, `2.4 s`, `12 s`, `3 min`: as many digits as the eye can use. */
export function formatDuration(ms: number, locale: string): string {
  if (ms < 1) return `0 ms`;
  if (ms < 100) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) {
    const digits = seconds < 1 ? 2 : seconds < 10 ? 1 : 0;
    return `${formatNumber(seconds, locale, digits)} s`;
  }
  return `${formatNumber(Math.round(seconds / 60), locale)} min`;
}

/** A number with the locale's separators and at most so many decimals. */
export function formatNumber(value: number, locale: string, digits = 0): string {
  return new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

/** A share between 0 and 1 as a whole percentage. */
export function formatPercent(share: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(share);
}

/** Dollars: cents from one dollar on, two telling digits below; `< $0.0001` for what is less than that. */
export function formatMoney(usd: number, locale: string): string {
  const small = usd > 0 && usd < 0.0001;
  const shown = small ? 0.0001 : usd;
  const digits = shown === 0 || shown >= 1 ? 2 : Math.min(4, Math.max(2, 1 - Math.floor(Math.log10(shown))));
  const text = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(shown);
  return small ? `< ${text}` : text;
}

/** `14:32` for today, `24 Nov` within the year, with the year before. */
export function formatWhen(iso: string, now: number, locale: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) return formatTime(iso, locale);
  return new Intl.DateTimeFormat(dayFirst(locale), {
    day: 'numeric',
    month: 'short',
    ...(date.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' }),
  }).format(date);
}

/** `14:32`, always with 24 hours. */
export function formatTime(iso: string, locale: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
    date,
  );
}

/** `1 December`, for headings. */
export function formatDay(time: number, locale: string): string {
  return new Intl.DateTimeFormat(dayFirst(locale), { day: 'numeric', month: 'long' }).format(new Date(time));
}

/** `1 Dec`, for axes and lists of days. */
export function formatShortDay(time: number, locale: string): string {
  return new Intl.DateTimeFormat(dayFirst(locale), { day: 'numeric', month: 'short' }).format(new Date(time));
}

/** English texts write the day before the month. */
function dayFirst(locale: string): string {
  return locale === 'en' ? 'en-GB' : locale;
}
