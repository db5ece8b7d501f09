/** Messages that wait above the composer: each can be edited or taken back until it is sent. */
import { type FormEvent, useCallback, useState } from 'react';
import { Clock, Pencil, X } from 'lucide-react';
import type { Message, QueuedTask, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';

export interface Waiting {
  tasks: readonly QueuedTask[];
  change: (tasks: readonly QueuedTask[]) => void;
  /** It was taken back. */
  removed: (task: QueuedTask) => void;
  /** The messages that belong in the log: without queued and removed ones, and with edited texts. */
  outside: (messages: readonly Message[]) => readonly Message[];
}

const none: readonly QueuedTask[] = [];

/** The messages queued behind the task or the question of a session; loaded again with every change of its queue. */
export function useQueue({ id, queue, runningSince, prompt }: Session): Waiting {
  const { client } = useRooms();
  const version = runningSince !== undefined || prompt !== undefined ? queue?.v : undefined;
  const found = useResource<readonly QueuedTask[]>(`${id} ${version ?? ''}`, async () =>
    version === undefined ? none : (await client.call('readQueue', { params: { id } })).tasks,
  );
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [said, setSaid] = useState<ReadonlyMap<string, string>>(new Map());
  const tasks = found.kind === 'ready' ? found.value : none;
  const isNew = tasks.some(({ uuid, content }) => said.get(uuid) !== content);
  if (isNew) setSaid(new Map([...said, ...tasks.map(({ uuid, content }) => [uuid, content] as const)]));
  const outside = useCallback(
    (messages: readonly Message[]): readonly Message[] => {
      const hidden = new Set([...gone, ...tasks.map(({ uuid }) => uuid)]);
      if (hidden.size === 0 && said.size === 0) return messages;
      return messages
        .filter(({ uuid }) => !hidden.has(uuid))
        .map((message) => {
          const content = said.get(message.uuid) ?? message.content;
          return message.part || content === message.content ? message : { ...message, content };
        });
    },
    [gone, said, tasks],
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

export function Queue({ session, queue }: { session: Session; queue: Waiting }) {
  if (queue.tasks.length === 0) return null;
  return (
    <ul className="queue" aria-label={words.queue.title}>
      {queue.tasks.map((task) => (
        <Chip key={task.taskId} sessionId={session.id} task={task} queue={queue} />
      ))}
    </ul>
  );
}

interface ChipProps {
  sessionId: string;
  task: QueuedTask;
  queue: Waiting;
}

function Chip({ sessionId, task, queue }: ChipProps) {
  const { client } = useRooms();
  const params = { id: sessionId, taskId: task.taskId };
  const [draft, setDraft] = useState<string>();
  const remove = useAction(async () => {
    await client.call('removeQueued', { params });
    queue.removed(task);
  });
  const edit = useAction(async () => {
    const { tasks } = await client.call('changeQueued', { params, body: { content: draft! } });
    setDraft(undefined);
    queue.change(tasks);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The composer is a form around this.
    event.stopPropagation();
    if (draft !== undefined && draft.trim() !== '') void edit.run();
  };
  if (draft !== undefined)
    return (
      <li className="editing">
        <textarea
          rows={1}
          autoFocus
          aria-label={words.queue.edited}
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setDraft(undefined);
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
          }}
        />
        <button type="button" className="small" onClick={() => setDraft(undefined)}>
          {words.cancel}
        </button>
        <button type="button" className="small primary" aria-disabled={edit.busy} onClick={submit}>
          {words.save}
        </button>
        <Problem refusal={edit.refusal} />
      </li>
    );
  return (
    <li>
      <Clock className="i faint" aria-hidden />
      <span className="grow cut">{task.content}</span>
      {!task.choice && (
        <button
          type="button"
          className="ghost icon"
          aria-label={words.queue.edit(task.content.slice(0, 80))}
          onClick={() => setDraft(task.content)}
        >
          <Pencil className="i" aria-hidden />
        </button>
      )}
      <button
        type="button"
        className="ghost icon"
        aria-label={words.queue.remove(task.content.slice(0, 80))}
        aria-disabled={remove.busy}
        onClick={() => void remove.run()}
      >
        <X className="i" aria-hidden />
      </button>
      <Problem refusal={remove.refusal} />
    </li>
  );
}
