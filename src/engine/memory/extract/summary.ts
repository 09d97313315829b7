import { wordsOf } from './echo.ts';
import type { ReadInput } from './reading.ts';
import { sentencesOf } from './sentences.ts';

const MOST_REQUESTS = 8;
const REQUEST_CHARS = 140;
/** A request with fewer topical words is small talk. */
const LEAST_WORDS = 3;
const LEAST_REQUESTS = 2;
const PART = ' · ';

/**
 * The summary of a session without a model: what the user asked, in their own words, the newest last. Null where there
 * was too little to sum up.
 */
export function summaryByRules({ turns, summary }: ReadInput): string | null {
  const asked = turns
    .filter(
      ({ role, text }) => role === 'user' && wordsOf(text).size >= LEAST_WORDS && !text.includes('[redacted'),
    )
    .flatMap(({ text }) => sentencesOf(text).slice(0, 1))
    .map(({ text }) =>
      text.length <= REQUEST_CHARS ? text : `${text.slice(0, REQUEST_CHARS - 1).trimEnd()}…`,
    );
  if (asked.length === 0) return null;
  const before = summary === null ? [] : summary.split(PART);
  if (before.length + asked.length < LEAST_REQUESTS) return null;
  return [...new Set([...before, ...asked])].slice(-MOST_REQUESTS).join(PART);
}
