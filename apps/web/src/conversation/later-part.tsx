/** The waiting messages of a session with a time, and the dialog that sets it. Both load with the first message. */
import { Suspense, useEffect } from 'react';
import type { Session } from '@relay/protocol';
import { loadedLater } from '../ui/loaded-later.tsx';
import type { useSending } from './use-sending.ts';

const LaterDialog = loadedLater(async () => (await import('../later/load.ts')).dialog());
const LaterChips = loadedLater(async () => (await import('../later/load.ts')).chips());

interface LaterPartProps {
  session: Session;
  text: string;
  send: ReturnType<typeof useSending>[0];
  isTiming: boolean;
  setTiming: (isTiming: boolean) => void;
  /** Asks when the text is sent. */
  atTime: () => unknown;
}

export function LaterPart({ session, text, send, isTiming, setTiming, atTime }: LaterPartProps) {
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
      {isTiming && (
        <LaterDialog
          text={text}
          busy={send.busy}
          refusal={send.refusal}
          onChoose={(notBefore) =>
            void send.run(undefined, text, [], { notBefore }).then((isSent) => isSent && setTiming(false))
          }
          onClose={() => setTiming(false)}
        />
      )}
    </Suspense>
  );
}
