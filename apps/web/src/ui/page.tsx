/** A page: its heading, its title, and the focus that follows a person from page to page. */
import { type ReactNode, useEffect, useRef } from 'react';
import { ChevronLeft } from './icons.tsx';
import { Link } from 'wouter';
import { titled } from '../sessions/attention.ts';
import { nearest, useKeptFocus } from './kept-focus.ts';

interface PageProps {
  title: string;
  /** The subject of the page, under the heading. */
  lead?: ReactNode;
  /** Shown next to the heading. */
  aside?: ReactNode;
  narrow?: boolean;
  /** The page that this one belongs to. */
  back?: { path: string; name: string };
  children: ReactNode;
}

export function Page({ title, lead, aside, narrow = false, back, children }: PageProps) {
  const main = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useKeptFocus(main, nearest);
  useEffect(() => titled(title), [title]);
  useEffect(() => {
    // A field that asked for the focus keeps it.
    const { activeElement } = document;
    if (activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement) return;
    heading.current?.focus({ preventScroll: true });
    heading.current?.closest('.content')?.scrollTo(0, 0);
  }, []);
  return (
    <main className={narrow ? 'page narrow' : 'page'} id="main" ref={main}>
      {back && (
        <Link href={back.path} className="button ghost small page-back">
          <ChevronLeft className="i" aria-hidden />
          {back.name}
        </Link>
      )}
      <div className="page-head">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {aside}
      </div>
      {lead !== undefined && <p className="lead">{lead}</p>}
      {children}
    </main>
  );
}

/** The way to another page, in a line of its own. */
export const WayOn = ({ path, children }: { path: string; children: ReactNode }) => (
  <p>
    <Link href={path} className="button">
      {children}
    </Link>
  </p>
);
