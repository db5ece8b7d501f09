/** A message to a session that a terminal has open: the person chooses how to deliver it before it leaves this device. */
import { useEffect, useRef } from 'react';
import type { DeskChoice, Device, Held, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { Clock, SquarePen } from '../ui/icons.tsx';
import { Sheet } from '../ui/sheet.tsx';
import { useNow } from '../ui/time.tsx';
import { Send } from './icons.tsx';
import { machineOf } from './said.ts';

export interface AskProps {
  session: Session;
  device: Device | undefined;
  text: string;
  /** Undefined: nothing is sent. Without `desk` nothing is left to choose. */
  onDone: (given?: { desk?: DeskChoice }) => void;
}

export function DeskAsk({ session, device, text, onDone }: AskProps) {
  const held = device?.status === 'online' ? session.held : undefined;
  const isFree = held === undefined;
  const done = useRef(onDone);
  useEffect(() => {
    if (isFree) done.current({});
  }, [isFree]);
  return held ? <Choices {...{ held, device, text, onDone }} /> : null;
}

interface ChoicesProps extends Omit<AskProps, 'session'> {
  held: Held;
}

function Choices({ held, device, text, onDone }: ChoicesProps) {
  const { ask } = words.desk;
  const now = useNow(20_000);
  const machine = machineOf(device);
  const isWorking = held.state === 'busy' || held.state === 'waiting';
  const take = held.ends && (
    <button type="button" className={isWorking ? '' : 'primary'} onClick={() => onDone({ desk: 'take' })}>
      <Send className="i" aria-hidden />
      <span>
        <strong>{isWorking ? ask.stop : ask.take}</strong>
        <small>{isWorking ? ask.stopMore(held.program) : ask.takeMore}</small>
      </span>
    </button>
  );
  return (
    <Sheet title={ask.title} close={words.desk.close} className="desk-sheet" onClose={() => onDone()}>
      <p className="soft">
        {held.ends && held.state === 'idle'
          ? ask.idle(held.program, machine, now - Date.parse(held.at))
          : ask.other(held.program, machine)}
      </p>
      {!held.ends && <p className="soft">{words.desk.cannot(held.program)}</p>}
      <p className="desk-message">{text}</p>
      <div className="desk-ways">
        {!isWorking && take}
        <button type="button" onClick={() => onDone({ desk: 'wait' })}>
          <Clock className="i" aria-hidden />
          <span>
            <strong>{ask.wait}</strong>
            <small>{ask.waitMore}</small>
          </span>
        </button>
        {isWorking && take}
        <button type="button" className="ghost" onClick={() => onDone()}>
          <SquarePen className="i" aria-hidden />
          <strong>{ask.draft}</strong>
        </button>
      </div>
    </Sheet>
  );
}
