/** When a message is sent: once, at an offered or any time, or again and again. A chunk of its own. */
import { Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { loadWords, timeOf, words } from '../catalogue.ts';
import type { Refusal } from '../api/refusal.ts';
import { submitting } from '../ui/action.ts';
import { Repeat } from '../ui/icons.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Problem } from '../ui/notice.tsx';
import { Sheet } from '../ui/sheet.tsx';
import type { RunPlace } from './repeat-form.tsx';
import { boundsAt, fieldValue, momentIn, offeredAt, zoneHere } from './times.ts';
import { ZoneField } from './zone-field.tsx';
import '../styles/later.css';

const RepeatForm = loadedLater(
  async () => (await Promise.all([import('./repeat-form.tsx'), loadWords('controls')]))[0].RepeatForm,
);

interface LaterDialogProps {
  /** A message to send, a session to start, or another time for a message that waits. */
  kind?: 'send' | 'start' | 'newTime';
  /** The message. */
  text: string;
  busy: boolean;
  refusal: Refusal | undefined;
  /** When the usage limit of the session resets. */
  resetsAt?: string | undefined;
  onChoose: (notBefore: string) => void;
  /** Where the message can repeat; absent: it cannot. */
  repeat?: RunPlace | undefined;
  /** A schedule has the message now. */
  onRepeated?: () => void;
  onClose: () => void;
}

export function LaterDialog(props: LaterDialogProps) {
  const { kind = 'send', text, repeat, onRepeated, onClose } = props;
  const [, navigate] = useLocation();
  const [isRepeated, setRepeated] = useState(false);
  const tab = (value: boolean, name: string) => (
    <button type="button" aria-pressed={isRepeated === value} onClick={() => setRepeated(value)}>
      {value && <Repeat className="i" aria-hidden />} {name}
    </button>
  );
  return (
    <Sheet title={words.later[kind]} close={words.later.close} className="later-dialog" onClose={onClose}>
      <p className="quote">{text}</p>
      {repeat && (
        <div className="seg" role="group" aria-label={words.later.howOften}>
          {tab(false, words.later.once)}
          {tab(true, words.later.again)}
        </div>
      )}
      {repeat && isRepeated ? (
        <Suspense>
          <RepeatForm
            place={repeat}
            message={text}
            onSaved={() => {
              onRepeated?.();
              onClose();
              navigate('/later');
            }}
          />
        </Suspense>
      ) : (
        <Once {...props} kind={kind} />
      )}
    </Sheet>
  );
}

function Once({ kind, busy, refusal, resetsAt, onChoose }: LaterDialogProps & { kind: 'send' | 'start' | 'newTime' }) {
  const [now] = useState(() => new Date());
  const offered = offeredAt(now, resetsAt);
  const [value, setValue] = useState(() => fieldValue(offered.find(({ name }) => name === 'tomorrow')!.at));
  const nameOf = ({ name, at }: (typeof offered)[number]) =>
    name === 'hour' ? words.later.hour : words.later[name](timeOf(at.toISOString()));
  const choose = (at: Date) => busy || onChoose(at.toISOString());
  const [zone, setZone] = useState(zoneHere);
  return (
    <>
      <div className="times">
        {offered.map((one) => (
          <button type="button" key={one.name} aria-disabled={busy} onClick={() => choose(one.at)}>
            {nameOf(one)}
          </button>
        ))}
      </div>
      <form
        onSubmit={submitting((): void => {
          if (value !== '') choose(momentIn(zone, value));
        })}
      >
        <label>
          {words.later.other}
          <input
            type="datetime-local"
            required
            {...(zone === zoneHere() && boundsAt(now))}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        </label>
        <ZoneField zone={zone} onZone={setZone} />
        <Problem refusal={refusal} />
        <button type="submit" className="primary" aria-disabled={busy}>
          {words.later[kind]}
        </button>
      </form>
    </>
  );
}
