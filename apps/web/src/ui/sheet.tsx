/** A sheet: at the bottom of a phone, in the middle of a wide page. Escape closes it. It stands outside of the form around it. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { IconButton } from './icon-button.tsx';
import { X } from './icons.tsx';
import '../styles/sheet.css';

interface SheetProps {
  title: string;
  /** The label of the button that closes it. */
  close: string;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}

export function Sheet({ title, close, className = '', onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return createPortal(
    <dialog
      ref={dialog}
      className={`sheet ${className}`}
      aria-labelledby={id}
      // React also reports the sheets that were opened from this one.
      onClose={({ target }) => target === dialog.current && onClose()}
    >
      <div className="mh">
        <h2 id={id}>{title}</h2>
        <IconButton icon={X} label={close} title={close} onClick={() => dialog.current?.close()} />
      </div>
      <div className="mb">{children}</div>
    </dialog>,
    document.body,
  );
}
