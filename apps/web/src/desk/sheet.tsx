/** A sheet: at the bottom of a phone, in the middle of a wide page. Escape closes it. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import './desk.css';

export function Sheet({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="desk-sheet" aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id} className="grow">
          {title}
        </h2>
        <IconButton
          icon={X}
          label={words.desk.close}
          title={words.desk.close}
          onClick={() => dialog.current?.close()}
        />
      </header>
      {children}
    </dialog>
  );
}
