/** The parts of a conversation that its figures of use need. */
import type { Device, Message, Session } from '@relay/protocol';
import type { Action } from '../ui/action.ts';

export interface UsageProps {
  session: Session;
  device: Device | undefined;
  messages: readonly Message[];
  /** Sends a message; absent while a question is open. */
  send: Pick<Action<[to: undefined, text: string, attached: []]>, 'run'> | undefined;
}
