/** Pages for people who are signed in; others sign in first and come back. */
import type { ReactNode } from 'react';
import { Redirect } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import { signInPath } from '../auth/return-to.ts';
import { words } from '../catalogue.ts';
import { useAccessState, useRooms } from '../rooms.ts';
import { Problem } from './notice.tsx';
import { Page } from './page.tsx';

export function SignedIn({ children }: { children: ReactNode }) {
  const { access, place } = useRooms();
  const state = useAccessState();
  const here = useLocationProperty(() => `${window.location.pathname}${window.location.search}`);
  if (state.kind === 'in') return children;
  if (state.kind === 'out') {
    const path = here.slice(place.base.length);
    return <Redirect to={signInPath(path === '' ? '/' : path)} replace state={{ ended: state.ended }} />;
  }
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
