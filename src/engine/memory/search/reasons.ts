import type { Candidate } from './ranker.ts';
import type { Wish } from './wish.ts';

const MOST_WORDS = 5;
/** From here on it is worth telling. */
const TELLING = 0.3;

/** Why a memory was found, in words for the user, e.g. `words: postgres, staging; said by anna`. */
export function reasonsFor({ features, similarity, words }: Candidate, { asksWhen }: Wish): string {
  const reasons: string[] = [];
  if (words.length > 0) reasons.push(`words: ${words.slice(0, MOST_WORDS).join(', ')}`);
  else if (Math.max(features.before1, features.before2, features.after2) > TELLING)
    reasons.push('next to words of the question');
  else if (features.session > TELLING) reasons.push('in a conversation about it');
  if (similarity !== null && features.meaning > TELLING) reasons.push(`meaning: ${similarity.toFixed(2)}`);
  if (features.speaker > 0) reasons.push('said by the one who is named');
  if (features.date > TELLING) reasons.push('said at that time');
  if (asksWhen && features.when > 0) reasons.push('tells when');
  if (features.answers > TELLING) reasons.push('answers a question about it');
  return reasons.join('; ');
}
