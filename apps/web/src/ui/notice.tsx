/** A notice to the person: announced by screen readers as soon as it appears. */
import type { ReactNode } from 'react';
import type { Refusal } from '../api/refusal.ts';
import { sentenceFor } from '../api/words.ts';
import { words } from '../catalogue.ts';

export function Notice({ kind = 'info', children }: { kind?: 'info' | 'good' | 'bad'; children: ReactNode }) {
  return (
    <div className={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** Why something did not work, if it did not. */
export function Problem({ refusal, onRetry }: { refusal: Refusal | undefined; onRetry?: () => void }) {
  if (!refusal) return null;
  return (
    <Notice kind="bad">
      <p>{sentenceFor(refusal)}</p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {words.retry}
        </button>
      )}
    </Notice>
  );
}
