/** Makes what the pages work with, and shows them. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from '@relay/client';
import { requestTimeoutMs } from './api/bounds.ts';
import { App } from './app.tsx';
import { createAccess } from './auth/access.ts';
import { createAccount } from './auth/account.ts';
import { direction, language, loadWords } from './catalogue.ts';
import { takeToken } from './auth/fragment.ts';
import { tokenForSignIn } from './auth/sign-in-flow.ts';
import { forgetLast, forgetPerson } from './forget.ts';
import { followInstall } from './offline/install.ts';
import { followKeyboard } from './keyboard-height.ts';
import { createInbox } from './inbox/store.ts';
import { createLive } from './live.ts';
import { leaveBrowserPush } from './push/worker.ts';
import { readPlace } from './place.ts';
import { countNeeds } from './sessions/attention.ts';
import { RoomsProvider } from './rooms.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/frame.css';
import './styles/palette.css';
import './styles/pages.css';
import './styles/shared.css';

const place = readPlace(document, window.location);
// Before anything else can see it.
const linkToken = takeToken(window);
const access = createAccess({
  fetchToken: () => tokenForSignIn(place),
  onOtherPerson: () => {
    forgetPerson();
    void leaveBrowserPush(place)
      .catch(() => undefined)
      .finally(() => window.location.reload());
  },
  onLeft: () => {
    forgetPerson();
    void leaveBrowserPush(place).catch(() => undefined);
  },
});
const account = createAccount(place);
const client = createClient({
  baseUrl: place.publicUrl,
  getToken: ({ refused }) => (refused === undefined ? access.bearer() : access.renew(refused)),
  timeoutMs: requestTimeoutMs,
  // A person sees what went wrong, and tries again.
  retries: 0,
});
const live = createLive({ client, renewAccess: () => access.renew() });
const inbox = createInbox({ client, live });
inbox.subscribe(() => countNeeds(inbox.state.counts.badge));
access.onToken(() => live.refresh());
access.subscribe(() => {
  for (const one of [live, inbox])
    if (access.state.kind === 'in') one.start();
    else one.stop();
});
// Also when the sign-in was ended elsewhere.
access.subscribe(() => access.state.kind === 'out' && forgetLast());
if (!place.isElsewhere) void access.open();

followKeyboard(window);
followInstall(window);

document.documentElement.lang = language;
document.documentElement.dir = direction;
void loadWords('frame', 'errors').then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <RoomsProvider value={{ place, access, account, client, live, inbox }}>
        <App linkToken={linkToken} />
      </RoomsProvider>
    </StrictMode>,
  ),
);
