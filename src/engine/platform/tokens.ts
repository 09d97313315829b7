/** Unified ideographs, kana, Hangul and full-width forms: about one token a character in current tokenisers. */
const WIDE = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[\ud840-\ud87f][\udc00-\udfff]/g;

/** Greek, Cyrillic, Arabic, Devanagari, Thai and other alphabets: tokenisers know fewer of their words. */
const OTHER_ALPHABETS = /[\u0370-\u1dff]/g;

/**
 * Estimates how many tokens a text costs, without a tokeniser on the request path: 4 characters of Latin text, 2 of
 * another alphabet or 1 ideograph are about one token. Errs on the high side for budgets (within about 15 % for Latin
 * prose).
 */
export function estimateTokens(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  const others = text.match(OTHER_ALPHABETS)?.length ?? 0;
  return Math.ceil((text.length - wide - others) / 4 + others / 2 + wide);
}
