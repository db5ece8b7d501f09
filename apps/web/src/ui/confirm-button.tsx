/** A button that asks before an irreversible action. */
import { useState } from 'react';
import { useAction } from './action.ts';
import { Confirm, type ConfirmProps } from './confirm.tsx';

interface ConfirmButtonProps extends Omit<ConfirmProps, 'yes' | 'onNo'> {
  /** The action with its subject, for readers. */
  label?: string;
  /** The text of the button, if it differs from the answer. */
  text?: string;
  onYes: () => Promise<unknown>;
}

export function ConfirmButton({ label, text, onYes, ...question }: ConfirmButtonProps) {
  const [asking, setAsking] = useState(false);
  const yes = useAction(onYes);
  return (
    <>
      <button type="button" className="danger" aria-label={label} onClick={() => setAsking(true)}>
        {text ?? question.action}
      </button>
      {asking && <Confirm {...question} yes={yes} onNo={() => setAsking(false)} />}
    </>
  );
}
