/** States, as a word with a colour: never as a colour alone. */
import type { DeviceStatus, SessionStatus } from '@relay/protocol';

const sessionWords: Readonly<Record<SessionStatus, string>> = {
  pending: 'Starting',
  active: 'Working',
  waiting: 'Needs you',
  idle: 'Idle',
  failed: 'Failed',
};

export const DeviceState = ({ status }: { status: DeviceStatus }) => (
  <span className={`state ${status}`}>{status === 'online' ? 'Online' : 'Offline'}</span>
);

export const SessionState = ({ status }: { status: SessionStatus }) => (
  <span className={`state ${status}`}>{sessionWords[status] ?? status}</span>
);
