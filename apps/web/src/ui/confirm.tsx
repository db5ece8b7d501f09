/** A question before an irreversible action. The focus stays inside; Escape cancels. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { words } from '../catalogue.ts';
import type { Action } from './action.ts';
import { Problem } from './notice.tsx';

export interface ConfirmProps {
  title: string;
  action: string;
  /** The same while it happens. */
  doing: string;
  yes: Action<[]>;
  onNo: () => void;
  children: ReactNode;
}

export function Confirm({ title, action, doing, yes, onNo, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onNo}>
      <h2 id={id}>{title}</h2>
      {children}
      <Problem refusal={yes.refusal} />
      <div className="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.cancel}
        </button>
        <button type="button" className="danger" aria-disabled={yes.busy} onClick={() => void yes.run()}>
          {yes.busy ? doing : action}
        </button>
      </div>
    </dialog>
  );
}
