/** The state of a session as a sign; its word is for readers. */
import { CircleX, Clock } from '../ui/icons.tsx';
import type { Device, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';

type RowState = 'need' | 'work' | 'fail' | 'wait' | 'new' | 'idle';

export function rowState({ status, lastTask, unread, limit }: Session, device: Device | undefined): RowState {
  if (status === 'waiting') return 'need';
  if (status === 'failed') return limit ? 'wait' : 'fail';
  if (lastTask?.state === 'queued' && device?.status === 'offline') return 'wait';
  if (status === 'active' || status === 'pending') return 'work';
  return unread ? 'new' : 'idle';
}

const labels: Readonly<Record<RowState, keyof typeof words.list.state>> = {
  need: 'waiting',
  work: 'active',
  fail: 'failed',
  wait: 'queued',
  new: 'news',
  idle: 'idle',
};

export const StateGlyph = ({ state }: { state: RowState }) => (
  <span className={`st ${state}`}>
    {state === 'fail' && <CircleX className="i" aria-hidden />}
    {state === 'wait' && <Clock className="i" aria-hidden />}
    <span className="sr">{words.list.state[labels[state]]}</span>
  </span>
);
