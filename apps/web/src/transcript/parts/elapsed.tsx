/** How long something runs already. Not read aloud: it would never stop. */
import { useNow } from '../../ui/time.tsx';

const clock = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const rest = String(seconds % 60).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${rest}`;
  return `${Math.floor(seconds / 3600)}:${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}:${rest}`;
};

export function Elapsed({ since }: { since: string | number }) {
  const now = useNow(1000);
  const from = typeof since === 'number' ? since : Date.parse(since);
  if (Number.isNaN(from)) return null;
  return (
    <span className="num" aria-hidden="true">
      {clock(now - from)}
    </span>
  );
}
