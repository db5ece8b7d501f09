/** Pages for people who are signed in; other people sign in first and return. */
import { type ReactNode, Suspense } from 'react';
import { Redirect } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import { isAway } from '../api/refusal.ts';
import { signInPath } from '../auth/return-to.ts';
import { words } from '../catalogue.ts';
import { keepsLast } from '../offline/kept.ts';
import { useAccessState, useRooms } from '../rooms.ts';
import { Problem } from './notice.tsx';
import { Page } from './page.tsx';
import { pageChunk } from './page-chunk.tsx';

const LastPage = pageChunk('here', () => import('../offline/last-page.tsx')).page(({ LastPage: page }) => page);

export function SignedIn({ children }: { children: ReactNode }) {
  const { access, place } = useRooms();
  const state = useAccessState();
  const here = useLocationProperty(() => `${window.location.pathname}${window.location.search}`);
  if (state.kind === 'in') return children;
  if (state.kind === 'out') {
    const path = here.slice(place.base.length);
    return <Redirect to={signInPath(path === '' ? '/' : path)} replace state={{ ended: state.ended }} />;
  }
  if (state.kind === 'trouble' && keepsLast() && isAway(state.refusal))
    return (
      <Suspense fallback={null}>
        <LastPage refusal={state.refusal} />
      </Suspense>
    );
  return (
    <Page title="Relay" narrow>
      {state.kind === 'opening' ? (
        <p className="late" role="status">
          {words.shell.signingIn}
        </p>
      ) : (
        <Problem refusal={state.refusal} onRetry={() => void access.open()} />
      )}
    </Page>
  );
}
