/** Light or dark: the person's choice in this browser, else that of the system. Of the browser, not of the person: it is kept when they sign out. */
const storeKey = 'relay-theme';
const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function chosenTheme(): Theme | undefined {
  try {
    return themes.find((theme) => theme === localStorage.getItem(storeKey));
  } catch {
    return undefined;
  }
}

export function showTheme(theme: Theme | undefined, { dataset }: HTMLElement): void {
  if (theme === undefined) delete dataset['theme'];
  else dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme | undefined): void {
  if (theme === undefined) localStorage.removeItem(storeKey);
  else localStorage.setItem(storeKey, theme);
  showTheme(theme, document.documentElement);
}
