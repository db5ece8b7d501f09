/** The ring of the composer, and the sheet it opens. Hidden if the agent reports no figures. */
import { useMemo, useState } from 'react';
import { words } from '../catalogue.ts';
import { figuresIn, percentOf } from './figures.ts';
import { Gauge } from './gauge.tsx';
import type { UsageProps } from './props.ts';
import { UsageSheet } from './sheet.tsx';
import '../styles/sheet.css';
import '../styles/usage.css';

export function UsageRing(props: UsageProps) {
  const figures = useMemo(() => figuresIn(props.messages), [props.messages]);
  const [open, setOpen] = useState(false);
  if (!figures) return null;
  const percent = percentOf(figures);
  return (
    <>
      <button
        type="button"
        className="ghost use"
        aria-haspopup="dialog"
        aria-label={words.usage.ring(percent)}
        title={words.usage.title}
        onClick={() => setOpen(true)}
      >
        {percent !== undefined && percent > 80 && (
          <span className="wide-only" aria-hidden>
            {words.usage.beside(percent)}
          </span>
        )}
        <Gauge percent={percent ?? 0} />
      </button>
      {open && <UsageSheet {...props} figures={figures} onClose={() => setOpen(false)} />}
    </>
  );
}
