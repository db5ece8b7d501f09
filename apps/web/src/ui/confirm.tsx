/** A question before something that cannot be taken back. The focus stays inside, Escape says no. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import type { Refusal } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { Problem } from './notice.tsx';

interface ConfirmProps {
  title: string;
  action: string;
  /** The same while it happens. */
  doing: string;
  busy: boolean;
  refusal?: Refusal | undefined;
  onYes: () => void;
  onNo: () => void;
  children: ReactNode;
}

export function Confirm({ title, action, doing, busy, refusal, onYes, onNo, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onNo}>
      <h2 id={id}>{title}</h2>
      {children}
      <Problem refusal={refusal} />
      <div className="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.cancel}
        </button>
        <button type="button" className="danger" aria-disabled={busy} onClick={onYes}>
          {busy ? doing : action}
        </button>
      </div>
    </dialog>
  );
}
