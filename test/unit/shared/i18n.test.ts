import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTranslator, LOCALES, type MessageKey, matchLocale } from '../../../src/shared/i18n/index.ts';

type Tree = { [key: string]: string | Tree };

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'src/shared/i18n');
const catalogue = (locale: string) =>
  flatten(JSON.parse(readFileSync(join(folder, `${locale}.json`), 'utf8')) as Tree);

function flatten(tree: Tree, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') found.set(path + key, value);
    else for (const [sub, text] of flatten(value, `${path}${key}.`)) found.set(sub, text);
  }
  return found;
}

const stem = (key: string) => key.replace(/_(one|many|other)$/, '');
const stems = (texts: Map<string, string>) => [...new Set([...texts.keys()].map(stem))].sort();
const holes = (text: string) => [...text.matchAll(/\{\{\s*(\w+)/g)].map((match) => match[1]).sort();
const english = catalogue('en');

// Would catch a text that one language lacks, or a leftover that the others have dropped.
test.each(LOCALES)('%s has exactly the texts of English', (locale) => {
  expect(stems(catalogue(locale))).toEqual(stems(english));
});

// Would catch a count that reads "1 sessions", or falls back to another language.
test.each(LOCALES)('%s has every plural form of its grammar', (locale) => {
  const texts = catalogue(locale);
  const forms = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
  for (const key of new Set([...english.keys()].filter((name) => name.endsWith('_other')).map(stem))) {
    for (const form of forms) expect(texts.has(`${key}_${form}`), `${locale} ${key}_${form}`).toBe(true);
  }
});

// Would catch a translation that lost a value, or invented one that nobody passes.
test.each(LOCALES)('%s keeps the values of every text', (locale) => {
  for (const [key, text] of catalogue(locale)) {
    const source = english.get(key) ?? english.get(`${stem(key)}_other`) ?? '';
    expect(holes(text), `${locale} ${key}`).toEqual(holes(source));
  }
});

// Would catch a text that no screen shows any more: translators would keep translating it.
test('every text is used', () => {
  const code = sources(join(root, 'src'));
  const unused = stems(english).filter((key) => !code.includes(`'${key}'`) && !isDynamic(key));
  expect(unused).toEqual([]);
});

/** Families that are looked up by a value. */
function isDynamic(key: string): boolean {
  return /^(activity\.(state|skipped|left|prefix)|status\.training|skills\.(source|category)|proposals\.auto|settings\.healthState|setup\.step|overview\.demoStep|usage\.(by|for)|memories\.(kindOne|ages|states|stateOne|origins|event|eventBy|why|extractors|modes|key|keyFor))\./.test(
    key,
  );
}

function sources(path: string): string {
  return readdirSync(path, { withFileTypes: true })
    .map((entry) => {
      const file = join(path, entry.name);
      if (entry.isDirectory()) return sources(file);
      return /\.tsx?$/.test(entry.name) ? readFileSync(file, 'utf8') : '';
    })
    .join('\n');
}

// Would catch a locale of the system that is read wrongly, so that nobody gets their language.
test.each([
  [['zh_CN.UTF-8'], 'zh-CN'],
  [['fr_CA.UTF-8', 'en'], 'fr'],
  [['de_DE.UTF-8', 'fr'], 'fr'],
  [['C.UTF-8', undefined], 'en'],
  [[undefined, 'zh-Hant-TW'], 'zh-CN'],
] as const)('%j is read as %s', (wishes, locale) => {
  expect(matchLocale(wishes)).toBe(locale);
});

// Would catch numbers that are written the English way everywhere.
test('counts are written in the way of the language', () => {
  expect(createTranslator('en')('status.turns', { count: 1 })).toBe('1 turn today');
  expect(createTranslator('en')('status.turns', { count: 12_345 })).toBe('12,345 turns today');
  expect(createTranslator('fr')('status.turns', { count: 12_345 })).toMatch(/^12\s345 tours/);
  expect(createTranslator('zh-CN')('nope' as MessageKey)).toBe('nope');
});
