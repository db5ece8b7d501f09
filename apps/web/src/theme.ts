/** Light or dark: the person's choice in this browser, else the choice of the system. It belongs to the browser, so it stays when they sign out. */
export const themeKey = 'relay-theme';
const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function chosenTheme(): Theme | undefined {
  try {
    return themes.find((theme) => theme === localStorage.getItem(themeKey));
  } catch {
    return undefined;
  }
}

export function showTheme(theme: Theme | undefined, { dataset }: HTMLElement): void {
  if (theme === undefined) delete dataset['theme'];
  else dataset['theme'] = theme;
}
