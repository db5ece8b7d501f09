/** The output of the tasks as frames. */
import type { DaemonEvent } from '@relay/protocol';
import type { Clock } from './clock.ts';
import type { Watched } from './inbound.ts';
import type { FinalEvent } from './journal.ts';
import type { Link } from './link.ts';
import { activityOf } from './report.ts';
import type { Store } from './store.ts';
import type { Voice } from './task.ts';

export function voiceOf({
  link,
  watched,
  store,
  clock,
  onStatus,
  promptOpened,
  steered,
  final,
}: {
  link: Link;
  watched: Watched;
  store: Store;
  clock: Pick<Clock, 'now'>;
  onStatus: () => void;
  promptOpened: (event: DaemonEvent<'PROMPT_OPEN'>) => void;
  steered: Voice['steered'];
  final: (event: FinalEvent) => void;
}): Voice {
  return {
    status: onStatus,
    event(event) {
      // Already in its transcript.
      if (event.event_type === 'OUTPUT' && link.sendsTranscript()) return;
      link.send(event, event.event_type !== 'SESSION_STARTED');
    },
    promptOpened,
    steered,
    final,
    activity(sessionId, isCompletion) {
      const session = watched.has(sessionId) ? store.session(sessionId) : undefined;
      if (session) link.send(activityOf(session, isCompletion, link.sendsTranscript()));
    },
    own(sessionId, works, hasItems) {
      const session = store.session(sessionId);
      // Newer than the task before it, or the relay takes the state for an old one.
      const now = { last_activity: new Date(clock.now()).toISOString(), own_turn: works };
      if (session) link.send({ ...activityOf(session, hasItems, link.sendsTranscript()), ...now });
    },
  };
}
