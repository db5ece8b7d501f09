/** The ring of the composer, and the sheet behind it. Hidden where the agent reports no figures. */
import { useMemo, useState } from 'react';
import type { Device, Message, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import type { Action } from '../ui/action.ts';
import { figuresIn, percentOf } from './figures.ts';
import { Gauge } from './gauge.tsx';
import { UsageSheet } from './sheet.tsx';
import '../styles/usage.css';

export interface UsageProps {
  session: Session;
  device: Device | undefined;
  messages: readonly Message[];
  /** Sends a message; absent while a question is open. */
  send: Pick<Action<[to: undefined, text: string, attached: []]>, 'run'> | undefined;
}

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
