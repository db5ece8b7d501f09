/** Maps addresses to pages. */
import { type ComponentType, Suspense, useEffect } from 'react';
import type { MemberPage } from '@relay/protocol';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { Refusal } from './api/refusal.ts';
import { loadWords, words } from './catalogue.ts';
import { useAccessState, useRooms } from './rooms.ts';
import { onTap } from './push/worker.ts';
import { Sessions } from './pages/sessions.tsx';
import { useAhead } from './ui/ahead.ts';
import { useDevices } from './ui/device-list.ts';
import { Guard } from './ui/guard.tsx';
import { Loaded } from './ui/loaded.tsx';
import { loadedLater } from './ui/loaded-later.tsx';
import { Problem } from './ui/notice.tsx';
import { Page, WayOn } from './ui/page.tsx';
import { pageChunk } from './ui/page-chunk.tsx';
import { Shell } from './ui/shell.tsx';
import { SignedIn } from './ui/signed-in.tsx';

/** The list works before these chunks are loaded. */
const conversation = pageChunk('session', () => import('./pages/conversation.tsx'));
const changes = pageChunk('changes', () => import('./pages/changes.tsx'));
const machines = pageChunk('machines', () => import('./pages/machines.ts'));
/** Both pages mention this device. */
const withHere = async <Pages,>(load: Promise<Pages>): Promise<Pages> => {
  const [pages] = await Promise.all([load, loadWords('here')]);
  return pages;
};
const settings = pageChunk('settings', () => withHere(import('./pages/settings.ts')));
const notify = pageChunk('notify', () => withHere(import('./pages/notify.ts')));
const door = pageChunk('door', () => import('./pages/door.tsx'));
const CreateAccount = door.page(({ CreateAccount: page }) => page);
const SignIn = door.page(({ SignIn: page }) => page);
const Elsewhere = door.page(({ Elsewhere: page }) => page);
const Consent = door.page(({ Consent: page }) => page);
/** The background work is loaded after the pages. */
const Background = loadedLater(
  async () => (await Promise.all([import('./offline/background.tsx'), loadWords('here')]))[0].Background,
);
const ErrorPage = door.page(({ ErrorPage: page }) => page);

/** `/`: to the conversations, or to the first machine. */
function Start() {
  const devices = useDevices();
  if (devices.kind === 'ready')
    return <Redirect to={devices.value.length > 0 ? '/sessions' : '/devices/new'} replace />;
  return (
    <Page title="Relay" narrow>
      <Loaded of={devices} what={words.common.loadingMachines}>
        {() => null}
      </Loaded>
    </Page>
  );
}

function NotFound() {
  return (
    <Page title={words.notFound.title} narrow>
      <p>{words.notFound.more}</p>
      <WayOn path="/">{words.common.home}</WayOn>
    </Page>
  );
}

const forMembers: Record<MemberPage, ComponentType> = {
  '/': Start,
  '/device': machines.page(({ RegisterDevice }) => RegisterDevice),
  '/devices': machines.page(({ Devices }) => Devices),
  '/devices/new': machines.page(({ NewDevice }) => NewDevice),
  '/devices/:id': machines.page(({ DevicePage }) => DevicePage),
  '/sessions': Sessions,
  '/sessions/new': machines.page(({ NewSession }) => NewSession),
  '/sessions/:id/changes': changes.page(({ Changes }) => Changes),
  '/sessions/:id': conversation.page(({ Conversation }) => Conversation),
  '/applications': settings.page(({ Applications }) => Applications),
  '/activity': settings.page(({ Activity }) => Activity),
  '/later': settings.page(({ Later }) => Later),
  '/usage': settings.page(({ Usage }) => Usage),
  '/account': settings.page(({ Account }) => Account),
  '/notifications': settings.page(({ Notifications }) => Notifications),
  '/notifications/history': notify.page(({ NotificationHistory }) => NotificationHistory),
};

/** A tapped notification leads to its session, in the page that is open. */
function Taps() {
  const { place } = useRooms();
  const [, go] = useLocation();
  useEffect(() => onTap(place, go), [place, go]);
  return null;
}

export function App({ linkToken }: { linkToken: string | undefined }) {
  const { place } = useRooms();
  const isIn = useAccessState().kind === 'in';
  const isAhead = useAhead(isIn);
  const [location] = useLocation();
  useEffect(() => {
    // A person who is signed in opens one soon.
    if (isAhead) for (const pages of [conversation, machines]) pages.ahead();
  }, [isAhead]);
  if (place.isElsewhere)
    return (
      <Suspense fallback={null}>
        <Elsewhere />
      </Suspense>
    );
  return (
    <Router base={place.base}>
      <Taps />
      {isIn && isAhead && (
        <Suspense fallback={null}>
          <Background />
        </Suspense>
      )}
      <Shell>
        <Guard
          of={location}
          instead={
            <main className="page" id="main">
              <Problem refusal={new Refusal('UNEXPECTED', '')} onRetry={() => window.location.reload()} />
            </main>
          }
        >
          <Suspense fallback={null}>
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
              {Object.entries(forMembers).map(([path, Component]) => (
                <Route key={path} path={path}>
                  <SignedIn>
                    <Component />
                  </SignedIn>
                </Route>
              ))}
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Guard>
      </Shell>
    </Router>
  );
}
