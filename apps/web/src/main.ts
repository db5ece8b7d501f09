/** Starts the sign-in and loads the texts while the pages are still loading, then shows the pages (ADR 68). */
import { createAccess } from './auth/access.ts';
import { tokenForSignIn } from './auth/sign-in-flow.ts';
import { direction, language, listFormats, loadWords } from './catalogue.ts';
import { forgetPerson } from './forget.ts';
import { readPlace } from './place.ts';
import { leaveBrowserPush } from './push/worker.ts';
import { createEarlyList } from './sessions/early-list.ts';
import { chosenTheme, showTheme } from './theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/frame.css';
import './styles/pages.css';
import './styles/shared.css';
import './styles/inbox.css';

showTheme(chosenTheme(), document.documentElement);
const place = readPlace(document, window.location);
// Before anything else can see it.
const linkToken = takeToken(window);
const forget = () => {
  forgetPerson();
  return leaveBrowserPush(place).catch(() => undefined);
};
const access = createAccess({
  fetchToken: () => tokenForSignIn(place),
  onOtherPerson: () => void forget().finally(() => window.location.reload()),
  onLeft: () => void forget(),
});
const early = createEarlyList(place, window.location);
access.onToken(early.ask);
if (!place.isElsewhere) void access.open();

// Safari lacks this call, and makes the formats when it draws the list.
if ('requestIdleCallback' in window) for (const make of listFormats) requestIdleCallback(make);

document.documentElement.lang = language;
document.documentElement.dir = direction;
// The build names the files of the pages in the document, so that they are loaded at once.
void Promise.all([import('./root.tsx'), loadWords('frame', 'errors')]).then(([{ showPages }]) =>
  showPages({ place, access, linkToken, early }),
);

/** Returns the token that a link carries after `#`, and removes it from the address bar. Other fragments name a message of the page and stay. */
function takeToken(window: Window): string | undefined {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? undefined;
  if (token !== undefined) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, '', `${pathname}${search}`);
  }
  return token;
}
