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
  const ranked = LATIN_WORDS.map(({ language, words }) => ({ language, hits: count(words) }));
  const best = ranked.reduce((a, b) => (b.hits >= a.hits ? b : a));
  return best.hits === 0 ? 'English' : best.language;
}
