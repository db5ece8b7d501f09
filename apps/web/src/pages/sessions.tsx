/**
 * `/sessions`, the start page: on a phone the list, headed by the waiting items; on a wide screen the waiting items, or the place
 * where a session opens.
 */
import { Suspense, useEffect, useRef } from 'react';
import { Plus } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { Sentence } from '../ui/sentence.tsx';
import { Waiting } from '../inbox/lazy.ts';
import { useInbox } from '../inbox/use-inbox.ts';
import { titled } from '../sessions/attention.ts';
import { useWide } from '../ui/wide.ts';
import { nearest, useKeptFocus } from '../ui/kept-focus.ts';
import { Mark } from '../ui/mark.tsx';
import { newSessionPath, useQuery } from '../ui/address.ts';

export function Sessions() {
  const home = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useKeptFocus(home, nearest);
  const { counts } = useInbox();
  const hasWaiting = useWide() && counts.total + counts.snoozed > 0;
  const device = useQuery().get('device') ?? undefined;
  useEffect(() => {
    titled('Relay');
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <section className="home" ref={home} aria-label={hasWaiting ? words.list.needsYou : words.list.pick}>
      <h1 className="sr" tabIndex={-1} ref={heading}>
        {words.shell.sessions}
      </h1>
      {hasWaiting ? (
        <Suspense fallback={null}>
          <Waiting />
        </Suspense>
      ) : (
        <div className="empty wide">
          <Mark />
          <h2>{words.list.pick}</h2>
          <p className="soft">
            <Sentence
              text={words.list.pickKeys}
              new={<kbd className="k">N</kbd>}
              next={<kbd className="k">J</kbd>}
              previous={<kbd className="k">K</kbd>}
            />
          </p>
        </div>
      )}
      <Link href={newSessionPath(device)} className="button primary fab">
        <Plus className="i" aria-hidden /> {words.list.newSession}
      </Link>
    </section>
  );
}
