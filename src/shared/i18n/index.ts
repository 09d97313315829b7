import { createInstance } from 'i18next';
import en from './en.json';
import fr from './fr.json';
import zhCN from './zh-CN.json';

/** The languages that the catalogues are complete in. */
export const LOCALES = ['en', 'zh-CN', 'fr'] as const;
export type Locale = (typeof LOCALES)[number];

/** Each language's own name, as a chooser shows it. */
export const LOCALE_NAMES: Record<Locale, string> = { en: 'English', 'zh-CN': '简体中文', fr: 'Français' };

type Leaf<T, Path extends string = ''> = {
  [Key in keyof T & string]: T[Key] extends string ? `${Path}${Key}` : Leaf<T[Key], `${Path}${Key}.`>;
}[keyof T & string];
type Stem<Key extends string> = Key extends `${infer Base}_${'one' | 'many' | 'other'}` ? Base : Key;

/** Every text there is, by its path in `en.json`; plural forms go by their common stem and a `count`. */
export type MessageKey = Stem<Leaf<typeof en>>;

/** Looks a text up in one language. `locale` also formats the numbers and dates that stand beside it. */
export type Translate = ((key: MessageKey, values?: Readonly<Record<string, string | number>>) => string) & {
  readonly locale: Locale;
};

/** Builds the translator of one language; nothing is shared between two of them. */
export function createTranslator(locale: Locale): Translate {
  const i18n = createInstance();
  void i18n.init({
    lng: locale,
    fallbackLng: 'en',
    resources: { en: { translation: en }, fr: { translation: fr }, 'zh-CN': { translation: zhCN } },
    interpolation: { escapeValue: false },
    // All texts are at hand, so that the first call already finds them.
    initAsync: false,
  });
  const translate = (key: MessageKey, values?: Readonly<Record<string, string | number>>): string =>
    i18n.t(key as string, values as Record<string, unknown>) as string;
  return Object.assign(translate, { locale });
}

/** Chooses among our languages for a list of wishes such as `zh_CN.UTF-8`, `fr-CA` or `de`; English when none fits. */
export function matchLocale(wishes: readonly (string | undefined)[]): Locale {
  for (const wish of wishes) {
    const language = wish?.toLowerCase().split(/[-_.@]/)[0];
    if (language === 'zh') return 'zh-CN';
    if (language === 'fr') return 'fr';
    if (language === 'en') return 'en';
  }
  return 'en';
}
