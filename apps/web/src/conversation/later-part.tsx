/** The waiting messages of a session with a time, and the dialog that sets it. Both load with the first message. */
import { Suspense, useEffect, useState } from 'react';
import type { Device, Session } from '@relay/protocol';
import { loadedLater } from '../ui/loaded-later.tsx';
import type { useSending } from './use-sending.ts';

const LaterDialog = loadedLater(async () => (await import('../later/load.ts')).dialog());
const LimitCard = loadedLater(async () => (await import('../later/load.ts')).limitCard());
const ByItself = loadedLater(async () => (await import('../later/load.ts')).byItself());
const LaterChips = loadedLater(async () => (await import('../later/load.ts')).chips());

interface LaterPartProps {
  session: Session;
  device: Device | undefined;
  text: string;
  send: ReturnType<typeof useSending>[0];
  isTiming: boolean;
  setTiming: (isTiming: boolean) => void;
  /** Asks when the text is sent. */
  atTime: () => unknown;
  /** A schedule has the text now. */
  onRepeated: () => void;
}

export function LaterPart({ session, device, text, send, isTiming, setTiming, atTime, onRepeated }: LaterPartProps) {
  /** The time of the limit whose card the person closed. */
  const [closed, setClosed] = useState<string>();
  const { limit } = session;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'l' || !event.shiftKey || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      atTime();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
  return (
    <Suspense fallback={null}>
      {session.later && <LaterChips session={session} />}
      {limit && !session.later && limit.at !== closed && (
        <LimitCard key={limit.at} {...{ session, limit, device, send }} onClose={() => setClosed(limit.at)} />
      )}
      {session.lastTask?.automatic && <ByItself key={session.lastTask.id} taskId={session.lastTask.id} />}
      {isTiming && (
        <LaterDialog
          text={text}
          busy={send.busy}
          refusal={send.refusal}
          resetsAt={limit?.resetsAt}
          repeat={device && { device, session, agentType: session.agentType, projectPath: session.projectPath }}
          onRepeated={onRepeated}
          onChoose={(notBefore) =>
            void send.run(undefined, text, [], { notBefore }).then((isSent) => isSent && setTiming(false))
          }
          onClose={() => setTiming(false)}
        />
      )}
    </Suspense>
  );
}
