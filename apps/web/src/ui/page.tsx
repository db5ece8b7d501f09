/** A page: its heading, its title, and the focus that follows a person from page to page. */
import { type ReactNode, useEffect, useRef } from 'react';

interface PageProps {
  title: string;
  /** Beside the heading. */
  aside?: ReactNode;
  narrow?: boolean;
  children: ReactNode;
}

export function Page({ title, aside, narrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Relay`;
  }, [title]);
  useEffect(() => {
    // A field that asked for the focus keeps it.
    const { activeElement } = document;
    if (activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement) return;
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return (
    <main className={narrow ? 'page narrow' : 'page'} id="main">
      <div className="page-head">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {aside}
      </div>
      {children}
    </main>
  );
}
