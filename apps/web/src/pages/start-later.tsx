/** The clock beside "Start session": starts the session at a time, or again and again. */
import { Suspense, useState } from 'react';
import { words } from '../catalogue.ts';
import type { RunPlace } from '../later/repeat-form.tsx';
import type { Action } from '../ui/action.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Clock } from '../ui/icons.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';

const LaterDialog = loadedLater(async () => (await import('../later/load.ts')).dialog());

interface StartLaterProps {
  message: string;
  place: RunPlace;
  start: Action<[notBefore?: string]>;
  onRepeated: () => void;
}

export function StartLater({ message, place, start, onRepeated }: StartLaterProps) {
  const [isTiming, setTiming] = useState(false);
  const { later } = words.start;
  return (
    <>
      <IconButton icon={Clock} label={later} title={later} onClick={() => message.trim() !== '' && setTiming(true)} />
      {isTiming && (
        <Suspense>
          <LaterDialog
            kind="start"
            text={message}
            busy={start.busy}
            refusal={start.refusal}
            onChoose={(notBefore) => void start.run(notBefore)}
            repeat={place}
            onRepeated={onRepeated}
            onClose={() => setTiming(false)}
          />
        </Suspense>
      )}
    </>
  );
}
