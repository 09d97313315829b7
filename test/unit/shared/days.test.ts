import { afterEach, expect, it } from 'vitest';
import { dayOf, shiftDay, startOfDay } from '../../../src/shared/days.ts';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const hoursOf = (day: string) => (startOfDay(shiftDay(day, 1)) - startOfDay(day)) / 3_600_000;

it.each([
  ['Europe/Paris', '2026-03-29', 23],
  ['Europe/Paris', '2026-10-25', 25],
  ['America/New_York', '2026-03-08', 23],
  // Here the clock skips midnight itself.
  ['Africa/Cairo', '2026-04-24', 23],
  ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ['Asia/Kathmandu', '2026-03-29', 24],
  ['UTC', '2026-03-29', 24],
])('in %s, %s has %d hours', (name, day, hours) => {
  process.env.TZ = name;
  expect(hoursOf(day)).toBe(hours);
  expect(dayOf(startOfDay(day))).toBe(day);
  expect(dayOf(startOfDay(shiftDay(day, 1)) - 1)).toBe(day);
});

it('counts days over months, years and changes of the clock', () => {
  process.env.TZ = 'Europe/Paris';
  expect(shiftDay('2026-03-01', -1)).toBe('2026-02-28');
  expect(shiftDay('2027-12-31', 1)).toBe('2028-01-01');
  expect(shiftDay('2026-03-28', 7)).toBe('2026-04-04');
});
