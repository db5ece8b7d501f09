/** The button of a form: shows that it works, and cannot be pressed twice. */
import type { ReactNode } from 'react';

export function Submit({ busy, busyText, children }: { busy: boolean; busyText: string; children: ReactNode }) {
  return (
    <button type="submit" className="primary" aria-disabled={busy}>
      {busy ? (
        <>
          <span className="spinner" aria-hidden="true" /> {busyText}
        </>
      ) : (
        children
      )}
    </button>
  );
}
