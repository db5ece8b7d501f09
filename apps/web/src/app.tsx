/** Maps addresses to pages. The relay knows the same addresses (`apps/api/src/web.ts`). */
import { type ComponentType, Suspense, lazy, useEffect, useState } from 'react';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { loadWords } from './catalogue.ts';
import { useAccessState, useRooms } from './rooms.ts';
import { Consent } from './pages/consent.tsx';
import { CreateAccount } from './pages/create-account.tsx';
import { DevicePage } from './pages/device.tsx';
import { Devices } from './pages/devices.tsx';
import { Elsewhere } from './pages/elsewhere.tsx';
import { ErrorPage } from './pages/error.tsx';
import { NewDevice } from './pages/new-device.tsx';
import { NewSession } from './pages/new-session.tsx';
import { NotFound } from './pages/not-found.tsx';
import { onTap } from './push/worker.ts';
import { RegisterDevice } from './pages/register-device.tsx';
import { Sessions } from './pages/sessions.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Start } from './pages/start.tsx';
import { Shell } from './ui/shell.tsx';
import { SignedIn } from './ui/signed-in.tsx';

/** A chunk of its own: what it takes to show a conversation is not needed to sign in. */
let loadedConversation: ComponentType | undefined;
async function loadConversation(): Promise<{ default: ComponentType }> {
  const [{ Conversation: loaded }] = await Promise.all([import('./pages/conversation.tsx'), loadWords('session')]);
  loadedConversation = loaded;
  return { default: loaded };
}
const LazyConversation = lazy(loadConversation);

/** When it is loaded it is there at once: React holds back what was lazy for 300 ms, and what an agent says then is not heard. */
function Conversation() {
  const [Loaded] = useState(() => loadedConversation ?? LazyConversation);
  return <Loaded />;
}

/** A person who is signed in opens one soon. */
function useConversationAhead(): void {
  const isIn = useAccessState().kind === 'in';
  useEffect(() => {
    if (isIn) loadConversation().catch(() => undefined);
  }, [isIn]);
}

/** Settings are opened rarely. */
const Account = lazy(async () => ({ default: (await import('./pages/account.tsx')).Account }));
const Applications = lazy(async () => ({ default: (await import('./pages/applications.tsx')).Applications }));
const Notifications = lazy(async () => ({ default: (await import('./pages/notifications.tsx')).Notifications }));

const forMembers: readonly (readonly [path: string, page: ComponentType])[] = [
  ['/', Start],
  ['/device', RegisterDevice],
  ['/devices', Devices],
  ['/devices/new', NewDevice],
  ['/devices/:id', DevicePage],
  ['/sessions', Sessions],
  ['/sessions/new', NewSession],
  ['/sessions/:id', Conversation],
  ['/applications', Applications],
  ['/account', Account],
  ['/notifications', Notifications],
];

/** A tapped notification leads to its session, in the page that is open. */
function Taps() {
  const { place } = useRooms();
  const [, go] = useLocation();
  useEffect(() => onTap(place, go), [place, go]);
  return null;
}

export function App({ linkToken }: { linkToken: string | undefined }) {
  const { place } = useRooms();
  useConversationAhead();
  if (place.isElsewhere) return <Elsewhere />;
  return (
    <Router base={place.base}>
      <Taps />
      <Shell>
        <Switch>
          <Route path="/setup">
            <CreateAccount kind="setup" token={linkToken} />
          </Route>
          <Route path="/invite">
            <CreateAccount kind="invite" token={linkToken} />
          </Route>
          <Route path="/sign-up">
            <CreateAccount kind="open" token={undefined} />
          </Route>
          <Route path="/sign-in" component={SignIn} />
          <Route path="/consent" component={Consent} />
          <Route path="/callback">
            {/* Programs of others have their own; our pages are never left for a sign-in. */}
            <Redirect to="/" replace />
          </Route>
          <Route path="/error" component={ErrorPage} />
          {forMembers.map(([path, Component]) => (
            <Route key={path} path={path}>
              <SignedIn>
                <Suspense fallback={null}>
                  <Component />
                </Suspense>
              </SignedIn>
            </Route>
          ))}
          <Route component={NotFound} />
        </Switch>
      </Shell>
    </Router>
  );
}
