/** The language of the pages: the person's choice in this browser, else the first of the browser's that there is, else English. */

/** As each calls itself. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

/** Of the browser, not of the person: it is kept when they sign out. */
const storeKey = 'relay-language';
const isLanguage = (text: string | undefined): text is Language => text !== undefined && Object.hasOwn(languages, text);
const baseOf = (tag: string) => tag.toLowerCase().split('-')[0];

/** Undefined while the browser decides. */
export function chosenLanguage(): Language | undefined {
  try {
    const stored = localStorage.getItem(storeKey) ?? undefined;
    return isLanguage(stored) ? stored : undefined;
  } catch {
    // A browser that keeps nothing decides.
    return undefined;
  }
}

/** Pages speak it from their next load on. */
export function chooseLanguage(language: Language | undefined): void {
  if (language === undefined) localStorage.removeItem(storeKey);
  else localStorage.setItem(storeKey, language);
}

const wanted: readonly string[] = typeof window === 'undefined' ? ['en'] : navigator.languages;
export const language: Language = chosenLanguage() ?? wanted.map(baseOf).find(isLanguage) ?? 'en';

/** How numbers and dates are written: in the language, with the habits of the browser's region (14:05 in `en-DE`). */
export const locale: string =
  wanted.find((tag) => baseOf(tag) === language) ??
  new Intl.Locale(language, { region: new Intl.Locale(wanted[0] ?? language).maximize().region ?? 'US' }).toString();
