/** The language of the pages: the person's choice in this browser, else the first of the browser's that there is, else English. */

/** As each calls itself. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;
/** English made longer, and laid out from right to left, to see that the pages bear it; only chosen by hand, in `localStorage`. */
const pseudo = { 'en-XA': 'en', 'ar-XB': 'ar-EG' } as const;
type Pseudo = keyof typeof pseudo;

/** Belongs to the browser, not the person: it is kept when they sign out. */
const storeKey = 'relay-language';
const isLanguage = (text: string | undefined): text is Language => text !== undefined && Object.hasOwn(languages, text);
const isPseudo = (text: string | null): text is Pseudo => text !== null && Object.hasOwn(pseudo, text);
const baseOf = (tag: string) => tag.toLowerCase().split('-')[0];

function stored(): string | null {
  try {
    return localStorage.getItem(storeKey);
  } catch {
    // A browser that keeps nothing decides.
    return null;
  }
}
/** Undefined while the browser decides. */
export function chosenLanguage(): Language | undefined {
  const choice = stored() ?? undefined;
  return isLanguage(choice) ? choice : undefined;
}
export const pseudoLanguage: Pseudo | undefined = [stored()].find(isPseudo);

/** Pages use it from their next load on. */
export function chooseLanguage(language: Language | undefined): void {
  if (language === undefined) localStorage.removeItem(storeKey);
  else localStorage.setItem(storeKey, language);
}

const wanted: readonly string[] = typeof window === 'undefined' ? ['en'] : navigator.languages;
export const language: Language = chosenLanguage() ?? wanted.map(baseOf).find(isLanguage) ?? 'en';

/** How numbers and dates are written: in the language, with the habits of the browser's region (14:05 in `en-DE`). */
export const locale: string = pseudoLanguage
  ? pseudo[pseudoLanguage]
  : (wanted.find((tag) => baseOf(tag) === language) ??
    new Intl.Locale(language, { region: new Intl.Locale(wanted[0] ?? language).maximize().region ?? 'US' }).toString());

const rightToLeft = ['ar', 'fa', 'he', 'ur'];
export const direction: 'ltr' | 'rtl' = rightToLeft.includes(baseOf(locale)!) ? 'rtl' : 'ltr';
