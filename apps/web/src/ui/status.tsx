/** The state of a machine: a word with a colour, never a colour alone. */
import type { DeviceStatus } from '@relay/protocol';
import { words } from '../catalogue.ts';

export const DeviceState = ({ status }: { status: DeviceStatus }) => (
  <span className={status === 'online' ? 'chip good' : 'chip'}>
    {status === 'online' ? words.common.online : words.common.offline}
  </span>
);
