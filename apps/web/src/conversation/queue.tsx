/** The messages of a session that wait to be sent. */
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Device, Message, QueuedTask, Session } from '@relay/protocol';
import { loadWords } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { useResource } from '../ui/resource.ts';
import type { MessageQueue } from './waiting.ts';

const none: readonly QueuedTask[] = [];

/** A message that is on its way into the turn. */
const sentNow = ({ uuid, content, createdAt, taskId }: QueuedTask): Message => ({
  ...{ uuid, role: 'USER', content, timestamp: createdAt },
  part: { kind: 'user', steer: 'sending', task: taskId },
});

/**
 * The messages that wait for the running task or the question of a session, until the queue is empty: between two tasks nothing runs for a
 * moment. The hook loads them again with every change of the queue.
 */
export function useQueue({ id, queue, runningSince, prompt }: Session): MessageQueue {
  const { client } = useRooms();
  const isShown = useRef(false);
  isShown.current = queue !== undefined && (isShown.current || runningSince !== undefined || prompt !== undefined);
  const version = isShown.current ? queue?.v : undefined;
  const found = useResource<readonly QueuedTask[]>(id, async () =>
    version === undefined ? none : (await client.call('readQueue', { params: { id } })).tasks,
  );
  // The chips stay until the next version has arrived: a chip that vanishes in between loses the focus.
  const { reload } = found;
  const loaded = useRef(version);
  useEffect(() => {
    if (loaded.current === version) return;
    loaded.current = version;
    reload();
  }, [version, reload]);
  const all = found.kind === 'ready' ? found.value : none;
  const tasks = useMemo(() => all.filter(({ kind }) => kind !== 'steer'), [all]);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [sentTasks, setSentTasks] = useState<ReadonlyMap<string, QueuedTask>>(new Map());
  if (all.some((task) => sentTasks.get(task.uuid) !== task))
    setSentTasks(new Map([...sentTasks, ...all.map((task) => [task.uuid, task] as const)]));
  const outside = useCallback(
    (messages: readonly Message[]): readonly Message[] => {
      const hidden = new Set([...gone, ...tasks.map(({ uuid }) => uuid)]);
      if (hidden.size === 0 && sentTasks.size === 0) return messages;
      const uuids = new Set(messages.map(({ uuid }) => uuid));
      // Another page sent these while this one was closed.
      const unconfirmed = [...sentTasks.values()]
        .filter(({ uuid, kind }) => kind === 'steer' && !uuids.has(uuid))
        .map(sentNow);
      return [...messages, ...unconfirmed]
        .filter(({ uuid }) => !hidden.has(uuid))
        .map((message) => {
          const task = sentTasks.get(message.uuid);
          if (message.part || !task) return message;
          if (task.kind === 'steer') return { ...sentNow(task), timestamp: message.timestamp };
          return task.content === message.content ? message : { ...message, content: task.content };
        });
    },
    [gone, sentTasks, tasks],
  );
  return {
    tasks,
    change: (next) => found.change(() => next),
    removed: (task) => {
      setGone((now) => new Set([...now, task.uuid]));
      found.change((now) => now.filter(({ taskId }) => taskId !== task.taskId));
    },
    outside,
  };
}

/** Most sessions never have one. */
const Chips = loadedLater(
  async () => (await Promise.all([import('./queue-chips.tsx'), loadWords('queue', 'steer')]))[0].Chips,
);

export function Queue({
  session,
  queue,
  device,
}: {
  session: Session;
  queue: MessageQueue;
  device: Device | undefined;
}) {
  // They stay mounted: one may be edited when it stops waiting.
  const isUsed = useRef(false);
  isUsed.current ||= queue.tasks.length > 0;
  if (!isUsed.current) return null;
  return (
    <Suspense fallback={null}>
      <Chips session={session} queue={queue} device={device} />
    </Suspense>
  );
}
