/** Explains how a person continues a session in a terminal. Opening it releases the session. */
import { useCallback, useEffect, useState } from 'react';
import type { DeskState, Device, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { Copy } from '../ui/copy.tsx';
import { Laptop } from '../ui/icons.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { useResource } from '../ui/resource.ts';
import { Sheet } from '../ui/sheet.tsx';
import { SquareTerminal } from './icons.tsx';
import { machineOf } from './said.ts';

export interface ResumeProps {
  session: Session;
  device: Device | undefined;
}

const nameCharacters = 8;
/** The command line accepts the last characters of the native id as a name. */
const attachOf = (id: string) => `relay attach ${id.slice(id.lastIndexOf(':') + 1).slice(-nameCharacters)}`;

function leadOf({ free, why }: DeskState, agent: string): string {
  const { resume } = words.desk;
  if (free) return resume.free;
  if (why === 'busy') return resume.busy(agent);
  if (why === 'question') return resume.question;
  return why === 'waiting' ? resume.waiting : resume.held;
}

/** An item of a menu, and its sheet. */
export function Resume(props: ResumeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={({ currentTarget }) => {
          currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
          setOpen(true);
        }}
      >
        {words.desk.resume.title}
      </button>
      {isOpen && <ResumeSheet {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ResumeSheet({ session, device, onClose }: ResumeProps & { onClose: () => void }) {
  const { client } = useRooms();
  const { resume } = words.desk;
  const { id } = session;
  const load = useCallback(() => client.call('letGo', { params: { id } }), [client, id]);
  const state = useResource(`desk ${id}`, load);
  const machine = machineOf(device);
  const agent = nameOfAgent(session.agentType, device);
  const { reload } = state;
  // The reasons change with the session.
  useEffect(() => reload(), [reload, session.status, session.held?.state]);
  const isOld = state.kind === 'failed' && state.refusal.code === 'NOT_SUPPORTED_BY_DEVICE';
  return (
    <Sheet title={resume.title} close={words.desk.close} className="desk-sheet" onClose={onClose}>
      {isOld ? (
        <p className="soft">{resume.update(machine)}</p>
      ) : (
        <Loaded of={state} what={resume.title}>
          {(now) => (
            <>
              <p className="soft">{leadOf(now, agent)}</p>
              <p className="desk-label">
                <Laptop className="i" aria-hidden /> {resume.on(machine)}
              </p>
              {now.command === undefined ? (
                <p className="soft">{resume.none(agent)}</p>
              ) : (
                <>
                  <Copy text={now.command} label={resume.command} />
                  <p className="soft">{resume.onMore(agent)}</p>
                </>
              )}
            </>
          )}
        </Loaded>
      )}
      <div>
        <p className="desk-label">
          <SquareTerminal className="i" aria-hidden /> {resume.attach}
        </p>
        <Copy text={attachOf(id)} label={resume.attach} />
        <p className="soft">{resume.attachMore}</p>
      </div>
    </Sheet>
  );
}
