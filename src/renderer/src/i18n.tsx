import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react';
import { createTranslator, type Locale, type Translate } from '../../shared/i18n/index.ts';

const Context = createContext<Translate | null>(null);

/** Gives everything below it one language, and tells the page which. */
export function LanguageProvider({ locale, children }: { locale: Locale; children: ReactNode }) {
  const t = useMemo(() => createTranslator(locale), [locale]);
  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);
  return <Context.Provider value={t}>{children}</Context.Provider>;
}

/** The translator of the window's language; `t.locale` formats numbers and dates. */
export function useT(): Translate {
  const t = useContext(Context);
  if (t === null) throw new Error('useT outside of LanguageProvider');
  return t;
}
