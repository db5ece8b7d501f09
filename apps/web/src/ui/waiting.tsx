/** A visible and audible wait, with its clock. */
import { Elapsed } from './time.tsx';

export function Waiting({ what, sinceMs }: { what: string; sinceMs: number }) {
  return (
    <p className="waiting" role="status">
      <span className="spinner" aria-hidden="true" />
      {what} <Elapsed sinceMs={sinceMs} />
    </p>
  );
}
