/** The one question before an agent works without asking. Enter does not confirm: the focus is on Cancel. */
import { useEffect, useId, useRef, useState } from 'react';
import { words } from '../catalogue.ts';
import { submitting } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { PasswordAgain, useRecentAction } from '../ui/recent-action.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { ShieldAlert } from './setting-chips.tsx';

interface ConfirmDangerProps {
  mode: string;
  agent: string;
  machine: string;
  /** It can become the default of new sessions. */
  canKeep: boolean;
  /** The rule of the schedule that uses it, as a person reads it. */
  rule?: string | undefined;
  /** Rejects if it must be asked again after the password. */
  onYes: (keep: boolean) => Promise<void>;
  onClose: () => void;
}

export function ConfirmDanger({ mode, agent, machine, canKeep, rule, onYes, onClose }: ConfirmDangerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [keep, setKeep] = useState(false);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
    cancel.current?.focus();
  }, []);
  const yes = useRecentAction(async () => {
    await onYes(keep);
    dialog.current?.close();
  });
  const choice = (value: boolean, name: string, more: string) => (
    <label className="li">
      <span className="grow">
        <b>{name}</b>
        <span className="d">{more}</span>
      </span>
      <input type="radio" name={`${id}-where`} checked={keep === value} onChange={() => setKeep(value)} />
    </label>
  );
  return (
    <dialog
      className="sheet ask-sheet"
      role="alertdialog"
      ref={dialog}
      aria-labelledby={id}
      onClose={(event) => {
        event.stopPropagation();
        onClose();
      }}
    >
      <form
        className="mb"
        onSubmit={(event) => {
          // The composer around it is a form, too.
          event.stopPropagation();
          submitting(() => void yes.run())(event);
        }}
      >
        <h2 id={id}>
          <ShieldAlert className="i" aria-hidden /> {words.controls.turnOnTitle(mode)}
        </h2>
        <p>
          <Sentence
            text={rule === undefined ? words.controls.turnOnMore : words.controls.turnOnLater}
            rule={rule ?? ''}
            agent={words.controls.onAgent(agent)}
            machine={<strong>{machine}</strong>}
          />
        </p>
        {canKeep && (
          <div className="list">
            {choice(false, words.controls.thisSession, words.controls.thisSessionMore)}
            {choice(true, words.controls.allSessions(agent, machine), words.controls.allSessionsMore)}
          </div>
        )}
        {yes.again && <PasswordAgain {...yes} />}
        <Problem refusal={yes.refusal} />
        <div className="acts">
          <button type="submit" className="dangerous" aria-disabled={yes.busy}>
            {words.controls.turnOn(mode)}
          </button>
          <button type="button" ref={cancel} onClick={() => dialog.current?.close()}>
            {words.controls.cancel}
          </button>
        </div>
      </form>
    </dialog>
  );
}
