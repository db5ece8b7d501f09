/** Makes the rooms of the pages, and shows them. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from '@relay/client';
import { requestTimeoutMs } from './api/bounds.ts';
import { App } from './app.tsx';
import type { Access } from './auth/access.ts';
import { createAccount } from './auth/account.ts';
import { forgetLast } from './forget.ts';
import { followInstall } from './offline/install.ts';
import { createInbox } from './inbox/store.ts';
import { createLive } from './live.ts';
import type { Place } from './place.ts';
import { countNeeds } from './sessions/attention.ts';
import type { EarlyList } from './sessions/early-list.ts';
import { RoomsProvider } from './rooms.ts';

interface Begun {
  place: Place;
  access: Access;
  linkToken: string | undefined;
  early: EarlyList;
}

/** The texts of the frame are loaded. `access` might already be open. */
export function showPages({ place, access, linkToken, early }: Begun): void {
  const account = createAccount(place);
  const client = createClient({
    baseUrl: place.publicUrl,
    getToken: ({ refused }) => (refused === undefined ? access.bearer() : access.renew(refused)),
    fetch: early.fetch,
    timeoutMs: requestTimeoutMs,
    // A person sees the error and tries again.
    retries: 0,
  });
  const live = createLive({ client, renewAccess: () => access.renew(), position: early.position });
  const inbox = createInbox({ client, live });
  inbox.subscribe(() => countNeeds(inbox.state.counts.badge));
  access.onToken(() => live.refresh());
  // Its answers do not have the changes that come from here on.
  live.onFrame(early.drop);
  const follow = () => {
    const isIn = access.state.kind === 'in';
    for (const one of [live, inbox])
      if (isIn) one.start();
      else one.stop();
    // Also if the sign-in was revoked elsewhere.
    if (access.state.kind === 'out') forgetLast();
  };
  access.subscribe(follow);
  follow();

  followKeyboard(window);
  followInstall(window);
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <RoomsProvider value={{ place, access, account, client, live, inbox }}>
        <App linkToken={linkToken} />
      </RoomsProvider>
    </StrictMode>,
  );
}

/** A bar of the browser takes less. */
const keyboardPx = 120;

/**
 * Leaves the page the height above the keyboard. Browsers of iOS lay it over the page, although the page asks for less room; then the
 * page shrinks to the remaining height, so that the composer is above the keys.
 */
function followKeyboard(window: Window): void {
  const { visualViewport, document } = window;
  if (!visualViewport) return;
  const { style } = document.documentElement;
  visualViewport.addEventListener('resize', () => {
    // The page must not move under a person who zooms.
    const isOver = visualViewport.scale === 1 && window.innerHeight - visualViewport.height > keyboardPx;
    if (!isOver) return void style.removeProperty('--height');
    style.setProperty('--height', `${Math.round(visualViewport.height)}px`);
    // The browser has moved the page to show the field, which is in sight.
    window.scrollTo(0, 0);
  });
}
