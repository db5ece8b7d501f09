/** The parts of the chunk, by name: one component, so that the pages that use them stay small. */
import type { ReactNode } from 'react';
import type { Device, Session } from '@relay/protocol';
import { type AskProps, DeskAsk } from './ask.tsx';
import { type BarProps, DeskBar } from './bar.tsx';
import { Monitor } from './icons.tsx';
import { Resume, type ResumeProps } from './resume.tsx';
import { rowLine } from './said.ts';
import './desk.css';

type DeskProps =
  | ({ part: 'row' } & RowProps)
  | ({ part: 'composer'; isAsking: boolean } & BarProps & AskProps)
  | ({ part: 'resume' } & ResumeProps);

export function Desk(props: DeskProps) {
  switch (props.part) {
    case 'row':
      return <DeskRow {...props} />;
    case 'composer':
      return (
        <>
          <DeskBar {...props} />
          {props.isAsking && <DeskAsk {...props} />}
        </>
      );
    case 'resume':
      return <Resume {...props} />;
  }
}

interface RowProps {
  session: Session;
  device: Device | undefined;
  state: string;
  search: string;
  /** The line otherwise: a question, a failure and work of the relay's own are more than an open terminal. */
  text: ReactNode;
}

/** The line of a session in the list, which a terminal has open. */
function DeskRow({ session: { held }, device, state, search, text }: RowProps) {
  if (!held || search !== '' || device?.status !== 'online' || !['new', 'idle'].includes(state)) return text;
  return (
    <span className={held.sure && held.state === 'waiting' ? 'desk-row needs' : 'desk-row'}>
      <Monitor className="i" aria-hidden />
      {rowLine(held)}
    </span>
  );
}
