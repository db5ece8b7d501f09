/** Part of `/account`: the colours and the language of the pages in this browser. */
import { useId, useState } from 'react';
import { words } from '../catalogue.ts';
import { type Language, chooseLanguage, chosenLanguage, languages } from '../languages/language.ts';

import { type Theme, chosenTheme, showTheme, themeKey } from '../theme.ts';

const all = Object.entries(languages) as [Language, string][];

function chooseTheme(theme: Theme | undefined): void {
  if (theme === undefined) localStorage.removeItem(themeKey);
  else localStorage.setItem(themeKey, theme);
  showTheme(theme, document.documentElement);
}

export function Appearance() {
  const id = useId();
  const [theme, setTheme] = useState(chosenTheme);
  const show = (next: Theme | undefined) => {
    chooseTheme(next);
    setTheme(next);
  };
  const choose = (value: string) => {
    chooseLanguage(all.find(([language]) => language === value)?.[0]);
    // Every text is another one; drafts are kept.
    window.location.reload();
  };
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance">{words.appearance.title}</h2>
      <fieldset className="choices">
        <legend>
          <b>{words.appearance.theme}</b>
        </legend>
        {([undefined, 'light', 'dark'] as const).map((one) => (
          <label key={one ?? ''}>
            <input type="radio" name="theme" checked={theme === one} onChange={() => show(one)} />
            {words.appearance.themes[one ?? 'system']}
          </label>
        ))}
      </fieldset>
      <div className="field">
        <label htmlFor={id}>{words.appearance.language}</label>
        <select
          id={id}
          aria-describedby={`${id}-hint`}
          defaultValue={chosenLanguage() ?? ''}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{words.appearance.byBrowser}</option>
          {all.map(([language, name]) => (
            <option key={language} value={language} lang={language}>
              {name}
            </option>
          ))}
        </select>
        <p className="hint" id={`${id}-hint`}>
          {words.appearance.hint}
        </p>
      </div>
    </section>
  );
}
