/** In the settings: the app on this device, and whether it stores the last pages read. */
import { useState, useSyncExternalStore } from 'react';
import { Download } from '../ui/later-icons.tsx';
import { words } from '../catalogue.ts';
import { forgetLast } from '../forget.ts';
import { installOffer } from './install.ts';
import { chooseLast, keepsLast } from './kept.ts';

const isApple = /iPhone|iPad/.test(navigator.userAgent);
const isInstalled = (): boolean =>
  matchMedia('(display-mode: standalone)').matches || (navigator as { standalone?: boolean }).standalone === true;

export function ThisDevice() {
  const isOffered = useSyncExternalStore(installOffer.subscribe, installOffer.isOpen);
  const [keeps, setKeeps] = useState(keepsLast);
  const choose = (on: boolean) => {
    chooseLast(on);
    setKeeps(on);
    if (!on) forgetLast();
  };
  return (
    <section aria-labelledby="this-device">
      <h2 id="this-device">{words.here.device}</h2>
      {isInstalled() && <p>{words.here.installed}</p>}
      {!isInstalled() && isApple && <HomeScreen />}
      {!isInstalled() && isOffered && (
        <div>
          <p>{words.here.installMore}</p>
          <button type="button" onClick={() => void installOffer.accept()}>
            <Download className="i" aria-hidden /> {words.here.install}
          </button>
        </div>
      )}
      <fieldset className="choices">
        <legend>
          <b>{words.here.keep}</b>
        </legend>
        <p className="soft">{words.here.keepMore}</p>
        {[true, false].map((on) => (
          <label key={String(on)}>
            <input type="radio" name="keep" checked={keeps === on} onChange={() => choose(on)} />
            {on ? words.here.keeps : words.here.keepsNot}
          </label>
        ))}
      </fieldset>
    </section>
  );
}

/** The only way to install the app on iPhone and iPad, where notifications require the installed app. */
function HomeScreen() {
  return (
    <div className="home-screen">
      <h3>{words.here.homeScreen}</h3>
      <svg viewBox="0 0 260 132" role="img" aria-label={words.here.homeScreenPicture}>
        <rect className="sheet" x="1" y="1" width="258" height="130" rx="14" />
        <rect className="line" x="14" y="16" width="232" height="30" rx="8" />
        <rect className="line" x="14" y="51" width="232" height="30" rx="8" />
        <rect className="chosen" x="14" y="51" width="232" height="30" rx="8" />
        <rect className="text" x="26" y="28" width="90" height="6" rx="3" />
        <rect className="text strong" x="26" y="63" width="130" height="6" rx="3" />
        <path className="icon" d="M224 27v8M220 31h8M217 24.500h14v13h-14z" />
        <path className="icon" d="M224 62v8M220 66h8M217 59.500h14v13h-14z" />
        <path
          className="icon share"
          d="M130 118v-18M124.500 105l5.500-5.500 5.500 5.500M124 110h-3.500v14h19v-14h-3.500"
        />
      </svg>
      <p className="soft">{words.here.homeScreenMore}</p>
    </div>
  );
}
