/** When a message is sent: a few times, or any. A chunk of its own. */
import { useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { timeOf, words } from '../catalogue.ts';
import type { Refusal } from '../api/refusal.ts';
import { submitting } from '../ui/action.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { boundsAt, fieldValue, offeredAt } from './times.ts';
import '../styles/later.css';

interface LaterDialogProps {
  /** The title and the label of the button; "Send later" if absent. */
  title?: string;
  /** The message. */
  text: string;
  busy: boolean;
  refusal: Refusal | undefined;
  onChoose: (notBefore: string) => void;
  onClose: () => void;
}

export function LaterDialog({ title = words.later.send, text, busy, refusal, onChoose, onClose }: LaterDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [now] = useState(() => new Date());
  const [value, setValue] = useState(() => fieldValue(offeredAt(now).at(-1)!.at));
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const nameOf = ({ name, at }: ReturnType<typeof offeredAt>[number]) =>
    name === 'hour' ? words.later.hour : words.later[name](timeOf(at.toISOString()));
  const choose = (at: Date) => busy || onChoose(at.toISOString());
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  // Outside the composer: its form and the shape of its buttons do not apply here.
  return createPortal(
    <dialog ref={dialog} className="later-dialog" aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id} className="grow">
          {title}
        </h2>
        <IconButton
          icon={X}
          label={words.later.close}
          title={words.later.close}
          onClick={() => dialog.current?.close()}
        />
      </header>
      <p className="soft cut">{text}</p>
      <div className="times">
        {offeredAt(now).map((offered) => (
          <button type="button" key={offered.name} aria-disabled={busy} onClick={() => choose(offered.at)}>
            {nameOf(offered)}
          </button>
        ))}
      </div>
      <form
        onSubmit={submitting((): void => {
          if (value !== '') choose(new Date(value));
        })}
      >
        <label>
          {words.later.other}
          <input
            type="datetime-local"
            required
            {...boundsAt(now)}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        </label>
        <p className="fine">{words.later.zone(zone)}</p>
        <Problem refusal={refusal} />
        <button type="submit" className="primary" aria-disabled={busy}>
          {title}
        </button>
      </form>
    </dialog>,
    document.body,
  );
}
