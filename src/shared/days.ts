/** Days of the local time zone, named `YYYY-MM-DD`; a day with a change of the clock has 23 or 25 hours. */

/** The day of a moment in milliseconds. */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** When a day begins, in milliseconds: midnight, or the first moment after it where the clock skips midnight. */
export function startOfDay(day: string): number {
  return at(day, 0, 0);
}

/** The day so many days later; earlier when negative. */
export function shiftDay(day: string, days: number): string {
  // From noon: every day has one.
  return dayOf(at(day, days, 12));
}

function at(day: string, days: number, hour: number): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + days, hour).getTime();
}
