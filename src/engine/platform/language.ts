const LATIN_WORDS: readonly { language: string; words: RegExp }[] = [
  { language: 'French', words: /\b(?:le|la|les|des|une|est|et|pour|dans|que|pas|vous|je|avec|sur|ce)\b/gi },
  { language: 'Spanish', words: /\b(?:el|los|las|una|es|y|para|que|no|con|por|en|del|se|lo)\b/gi },
  { language: 'German', words: /\b(?:der|die|das|und|ist|nicht|ein|eine|mit|für|ich|zu|auf|bitte)\b/gi },
  { language: 'Portuguese', words: /\b(?:o|os|as|uma|é|e|para|que|não|com|por|em|do|da|você)\b/gi },
  { language: 'Italian', words: /\b(?:il|gli|una|è|e|per|che|non|con|di|del|della|sono)\b/gi },
  { language: 'English', words: /\b(?:the|a|is|and|to|of|in|that|it|for|you|with|on|this|not)\b/gi },
];

/** The language that the user writes in, by its English name. Code in between does not count much. */
export function languageOf(text: string): string {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const latin = count(/\p{Script=Latin}/gu);
  const heavier = (letters: number) => letters * 3 >= latin && letters > 0;
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const han = count(/\p{Script=Han}/gu);
  if (heavier(kana + han)) return kana > han / 10 ? 'Japanese' : 'Chinese';
  if (heavier(count(/\p{Script=Hangul}/gu))) return 'Korean';
  if (count(/\p{Script=Cyrillic}/gu) > latin) return 'Russian';
  if (count(/\p{Script=Arabic}/gu) > latin) return 'Arabic';
  const ranked = latinHits(text);
  const best = ranked.reduce((a, b) => (b.hits >= a.hits ? b : a));
  return best.hits === 0 ? 'English' : best.language;
}

/** False when a text is clearly not in the language of another; where they are short, it is taken to be. */
export function sameLanguage(one: string, other: string): boolean {
  if (isWide(one) !== isWide(other)) return false;
  if (isWide(one)) return scriptsOf(one).some((script) => scriptsOf(other).includes(script));
  const [first, second] = [languageOf(one), languageOf(other)];
  const isLatin = [first, second].every((name) => LATIN_WORDS.some(({ language }) => language === name));
  if (first === second || !isLatin) return first === second;
  const hits = (text: string, name: string) =>
    latinHits(text).find(({ language }) => language === name)?.hits ?? 0;
  return hits(one, first) < CLEARLY || hits(other, second) < CLEARLY || hits(one, second) > 0;
}

/** So many function words show a language. */
const CLEARLY = 2;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Written in ideographs, kana or Hangul; names and code in Latin letters do not change that. */
function isWide(text: string): boolean {
  return (
    (text.match(WIDE)?.length ?? 0) * 8 >= (text.match(/\p{L}/gu)?.length ?? 0) && text.search(WIDE) >= 0
  );
}

/** A short Japanese text may hold ideographs alone. */
function scriptsOf(text: string): string[] {
  if (/\p{Script=Hangul}/u.test(text)) return ['hangul'];
  if (!/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text))
    return text.length < 12 ? ['han', 'kana'] : ['han'];
  return ['kana'];
}

function latinHits(text: string): { language: string; hits: number }[] {
  return LATIN_WORDS.map(({ language, words }) => ({ language, hits: text.match(words)?.length ?? 0 }));
}
