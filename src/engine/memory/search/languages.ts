import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stopwords as arabicStop } from '@orama/stopwords/arabic';
import { stopwords as danishStop } from '@orama/stopwords/danish';
import { stopwords as dutchStop } from '@orama/stopwords/dutch';
import { stopwords as englishStop } from '@orama/stopwords/english';
import { stopwords as finnishStop } from '@orama/stopwords/finnish';
import { stopwords as frenchStop } from '@orama/stopwords/french';
import { stopwords as germanStop } from '@orama/stopwords/german';
import { stopwords as greekStop } from '@orama/stopwords/greek';
import { stopwords as hungarianStop } from '@orama/stopwords/hungarian';
import { stopwords as hindiStop } from '@orama/stopwords/indian';
import { stopwords as italianStop } from '@orama/stopwords/italian';
import { stopwords as japaneseStop } from '@orama/stopwords/japanese';
import { stopwords as mandarinStop } from '@orama/stopwords/mandarin';
import { stopwords as norwegianStop } from '@orama/stopwords/norwegian';
import { stopwords as portugueseStop } from '@orama/stopwords/portuguese';
import { stopwords as romanianStop } from '@orama/stopwords/romanian';
import { stopwords as russianStop } from '@orama/stopwords/russian';
import { stopwords as spanishStop } from '@orama/stopwords/spanish';
import { stopwords as swedishStop } from '@orama/stopwords/swedish';
import { stopwords as turkishStop } from '@orama/stopwords/turkish';

/** How the words of a language are brought to one form, and which of them tell nothing of the topic. */
export interface Language {
  name: string;
  stem: (word: string) => string;
  stop: ReadonlySet<string>;
}

const MARKS = /\p{M}+/gu;

/** Without accents, so that `préférence` and `preference` are the same. */
export function bare(word: string): string {
  return word.normalize('NFD').replace(MARKS, '').normalize('NFC').replace(/ß/g, 'ss');
}

function language(name: string, stem: (word: string) => string, words: readonly string[]): Language {
  const parts = words.flatMap((word) => word.toLowerCase().split(/[^\p{L}\p{M}]+/u));
  return { name, stem, stop: new Set([...parts, ...parts.map(bare)].filter(Boolean)) };
}

export const ENGLISH = language('English', english, englishStop);

/** Those that share the Latin alphabet and are told apart by their function words. */
const LATIN: readonly Language[] = [
  ENGLISH,
  language('French', french, frenchStop),
  language('German', german, germanStop),
  language('Spanish', spanish, spanishStop),
  language('Italian', italian, italianStop),
  language('Portuguese', portuguese, portugueseStop),
  language('Dutch', dutch, dutchStop),
  language('Swedish', swedish, swedishStop),
  language('Norwegian', norwegian, norwegianStop),
  language('Danish', danish, danishStop),
  language('Finnish', finnish, finnishStop),
  language('Hungarian', hungarian, hungarianStop),
  language('Romanian', romanian, romanianStop),
  language('Turkish', turkish, turkishStop),
];

const BY_SCRIPT: readonly { letters: RegExp; language: Language }[] = [
  { letters: /\p{Script=Cyrillic}/u, language: language('Russian', russian, russianStop) },
  { letters: /\p{Script=Arabic}/u, language: language('Arabic', arabic, arabicStop) },
  { letters: /\p{Script=Greek}/u, language: language('Greek', greek, greekStop) },
  { letters: /\p{Script=Devanagari}/u, language: language('Hindi', hindi, hindiStop) },
];

/** Words without topic in scripts that have no spaces. */
export const UNSPACED_STOP: ReadonlySet<string> = new Set([...mandarinStop, ...japaneseStop]);

/** The language of a word that is not written in the Latin alphabet; null: none that has stems. */
export function languageOfScript(word: string): Language | null {
  return BY_SCRIPT.find(({ letters }) => letters.test(word))?.language ?? null;
}

const SAMPLE_WORDS = 60;
/** So many function words more than English has make a text another language's. */
const LEAD = 2;

/** Which of LATIN have a word as a function word, a bit for each. */
const LANGUAGES_OF = new Map<string, number>();
LATIN.forEach(({ stop }, at) => {
  for (const word of stop) LANGUAGES_OF.set(word, (LANGUAGES_OF.get(word) ?? 0) | (1 << at));
});

/**
 * The language of Latin words, by their function words; the beginning of the text decides. Null when nothing tells,
 * as for names and most commands.
 */
export function latinLanguageOf(words: readonly string[]): Language | null {
  const hits = new Array<number>(LATIN.length).fill(0);
  for (const word of words.slice(0, SAMPLE_WORDS)) {
    const languages = LANGUAGES_OF.get(word);
    if (languages === undefined) continue;
    for (let at = 0; at < hits.length; at += 1) if (languages & (1 << at)) hits[at] = (hits[at] ?? 0) + 1;
  }
  const most = Math.max(...hits);
  const ofEnglish = hits[0] ?? 0;
  if (most === 0) return null;
  return most >= ofEnglish + (ofEnglish === 0 ? 1 : LEAD) ? (LATIN[hits.indexOf(most)] ?? null) : ENGLISH;
}

/** Every language of the Latin alphabet: for questions too short to tell theirs. */
export const LATIN_LANGUAGES = LATIN;
