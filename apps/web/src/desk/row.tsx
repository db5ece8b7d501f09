/** The line of a session in the list, which a terminal has open. */
import type { ReactNode } from 'react';
import type { Device, Session } from '@relay/protocol';
import { Monitor } from './icons.tsx';
import { rowLine } from './said.ts';
import './desk.css';

export interface RowProps {
  session: Session;
  device: Device | undefined;
  state: string;
  search: string;
  /** The line otherwise: a question, a failure and work of the relay's own are more than an open terminal. */
  text: ReactNode;
}

export function DeskRow({ session: { held }, device, state, search, text }: RowProps) {
  if (!held || search !== '' || device?.status !== 'online' || !['new', 'idle'].includes(state)) return text;
  return (
    <span className={held.sure && held.state === 'waiting' ? 'desk-row needs' : 'desk-row'}>
      <Monitor className="i" aria-hidden />
      {rowLine(held)}
    </span>
  );
}
