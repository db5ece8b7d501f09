/** The queue of a session as the conversation shows and changes it. */
import type { Message, QueuedTask } from '@relay/protocol';

export interface MessageQueue {
  tasks: readonly QueuedTask[];
  change: (tasks: readonly QueuedTask[]) => void;
  /** It was taken back. */
  removed: (task: QueuedTask) => void;
  /** The messages that belong in the log: without queued and removed ones, and with edited texts. */
  outside: (messages: readonly Message[]) => readonly Message[];
}
