/**
 * Messages into a running turn (rules, chapter 23): each is given to the agent at most once, and its outcome is sent until the relay has
 * received it. A message becomes an item of the turn when the agent has it.
 */
import type { DaemonEvent, ToDaemon } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { fieldBytes, keepHead } from './bounds.ts';
import type { GivenFile } from './agent.ts';
import { givenFiles } from './exchange.ts';
import type { Task } from './task.ts';
import type { TaskRoom } from './task-finish.ts';

type Steered = DaemonEvent<'STEERED'>;

interface Steers {
  steer: (frame: ToDaemon<'task_steer'>) => void;
  /** Ids of the messages whose turns still run. */
  ids: () => string[];
  /** The turn of the task completed before the agent read this message. */
  dropped: (task: Pick<Task, 'sessionId' | 'steers'>, id: string) => void;
  /** Before `status`: sends the outcomes that the relay has not received. */
  again: () => void;
}

const maxOwed = 1000;
const asks = 'The agent waits for an answer.';
const unable = 'This agent takes no message while it works.';

interface SteerSurroundings {
  /** Notes the id of a task. Returns false when it was noted before. */
  remember: (taskId: string) => boolean;
  isNoted: (taskId: string) => boolean;
  record: (write: () => void, task?: Task) => void;
  /** Sends an outcome; calls back when the relay has received it. */
  send: (event: Steered, received: () => void) => void;
}

export function createSteers(room: TaskRoom, { remember, isNoted, record, send }: SteerSurroundings): Steers {
  const { agent, transcripts, voice, lines, tasks, taskQuestions, log } = room;
  /** Outcomes that the relay has not received, by task. */
  const owed = new Map<string, Steered>();

  const deliver = (event: Steered) => {
    const id = event.task_id ?? '';
    send(event, () => owed.get(id) === event && owed.delete(id));
  };
  const report = (id: string, sessionId: string, outcome: string, reason?: string) => {
    const why = reason === undefined ? {} : { reason: keepHead(reason, fieldBytes.error) };
    const event = {
      type: 'event',
      event_type: 'STEERED',
      task_id: id,
      session_id: sessionId,
      outcome,
      ...why,
    } as const;
    owed.delete(id);
    owed.set(id, event);
    const [oldest] = owed.keys();
    if (owed.size > maxOwed && oldest !== undefined) owed.delete(oldest);
    log.info('message into a turn', { task: id, session: sessionId, outcome });
    deliver(event);
  };

  const runs = ({ into, session_id: sessionId }: ToDaemon<'task_steer'>): Task | undefined => {
    const task = tasks.get(into);
    return task?.phase === 'running' && lines.get(sessionId)?.[0] === task ? task : undefined;
  };

  const give = (frame: ToDaemon<'task_steer'>, task: Task) => {
    const { task_id: id, session_id: sessionId, message, message_uuid: uuid = id, images = [] } = frame;
    const { exchange } = room;
    const found = room.incoming.find(frame.files ?? []);
    // As an ordinary message it fails with the right code.
    if (!found || (found.length > 0 && !exchange)) return report(id, sessionId, 'refused', unable);
    let files: GivenFile[] = [];
    try {
      if (found.length > 0) files = givenFiles(exchange!, task, found);
    } catch (error) {
      return report(id, sessionId, 'refused', reasonOf(error));
    }
    const steers = (task.steers ??= new Map<string, string>());
    steers.set(id, uuid);
    voice.status();
    log.speech('user said', { task: id, text: message });
    let isInjected = false;
    const injected = () => {
      if (isInjected) return;
      isInjected = true;
      remember(id);
      record(() => transcripts.steer({ sessionId, message, uuid, images, files: found }), task);
      for (const file of found) room.incoming.drop(file.id);
      report(id, sessionId, 'injected');
      voice.activity(sessionId, false);
    };
    const over = (outcome: string, reason?: string) => {
      if (outcome === 'injected') return injected();
      steers.delete(id);
      if (outcome !== 'unknown') exchange?.remove(files.map(({ path }) => path));
      report(id, sessionId, outcome, reason);
      voice.status();
    };
    const words = { taskId: task.id, sessionId, message, ...(images.length > 0 ? { images } : {}), id };
    const attached = files.length > 0 ? { files } : {};
    agent.steer!({ ...words, ...attached }, injected).then(
      ({ outcome, reason }) => over(outcome, reason),
      (error: unknown) => over('unknown', reasonOf(error)),
    );
  };

  return {
    steer(frame) {
      const { task_id: id, session_id: sessionId, images = [] } = frame;
      const outcome = owed.get(id);
      // The agent has it, or gets it at this moment.
      if (isNoted(id) || [...tasks.values()].some(({ steers }) => steers?.has(id))) return outcome && deliver(outcome);
      owed.delete(id);
      const task = runs(frame);
      if (!task) return report(id, sessionId, 'not_running');
      const takesImages = images.length === 0 || agent.capabilities?.includes('images') === true;
      if (!agent.steer || !takesImages) return report(id, sessionId, 'refused', unable);
      if (taskQuestions.of(sessionId).length > 0) return report(id, sessionId, 'refused', asks);
      give(frame, task);
    },
    ids: () => [...tasks.values()].flatMap(({ steers }) => [...(steers?.keys() ?? [])]),
    dropped({ sessionId, steers }, id) {
      const uuid = steers?.get(id);
      if (uuid === undefined) return;
      record(() => transcripts.change(sessionId, [{ op: 'set', uuid, part: { steer: 'dropped' } }]));
      report(id, sessionId, 'dropped');
    },
    again() {
      for (const event of [...owed.values()]) deliver(event);
    },
  };
}
