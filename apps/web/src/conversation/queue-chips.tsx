/** Messages that wait above the composer: each can be edited, moved or taken back until it is sent. */
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Pencil } from '../transcript/icons.tsx';
import { GripVertical } from '../ui/later-icons.tsx';
import { Clock, X } from '../ui/icons.tsx';
import type { Device, QueuedTask, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { isComposing } from '../ui/composing.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Problem } from '../ui/notice.tsx';
import { SendNow } from '../steering/chip.tsx';
import { isFixed, moved, useDrag } from './queue-order.ts';
import type { MessageQueue } from './waiting.ts';

interface ChipsProps {
  session: Session;
  queue: MessageQueue;
  device: Device | undefined;
}

export function Chips({ session, queue, device }: ChipsProps) {
  const sessionId = session.id;
  const { client } = useRooms();
  const { tasks } = queue;
  const [edited, setEdited] = useState<readonly QueuedTask[]>([]);
  const onEdit = (task: QueuedTask, isEdited: boolean) =>
    setEdited((now) => [...now.filter(({ taskId }) => taskId !== task.taskId), ...(isEdited ? [task] : [])]);
  /** Edited when they stopped waiting. Their text stays, and so does the focus. */
  const late = edited.filter(({ taskId }) => tasks.every((task) => task.taskId !== taskId));
  const [announced, setAnnounced] = useState('');
  const place = useAction(async (taskId: string, index: number) => {
    const next = moved(tasks, taskId, index);
    if (!next) return;
    queue.change(next.tasks);
    try {
      queue.change((await client.call('changeQueued', { params: { id: sessionId, taskId }, body: next.body })).tasks);
      setAnnounced(words.queue.movedTo(next.tasks.findIndex((task) => task.taskId === taskId) + 1, tasks.length));
    } catch (error) {
      queue.change(tasks);
      throw error;
    }
  });
  const drag = useDrag(({ taskId, index }) => void place.run(taskId, index));
  const canMove = tasks.filter((task) => !isFixed(task)).length > 1;
  if (tasks.length + late.length === 0) return null;
  const dropAt = drag.dragged && moved(tasks, drag.dragged.taskId, drag.dragged.index)?.tasks;
  return (
    <>
      <ul className="queue" aria-label={words.queue.title}>
        {[...late, ...(dropAt ?? tasks)].map((task) => (
          <Chip
            key={task.taskId}
            sessionId={sessionId}
            task={task}
            queue={queue}
            isLate={late.includes(task)}
            onEdit={onEdit}
            className={drag.dragged?.taskId === task.taskId ? 'dragged' : ''}
            now={<SendNow session={session} task={task} first={tasks[0]} device={device} />}
            handle={
              canMove && !isFixed(task) ? (
                <Handle
                  task={task}
                  place={tasks.indexOf(task)}
                  tasks={tasks}
                  drag={drag}
                  onMove={(index) => void place.run(task.taskId, index)}
                />
              ) : (
                <Clock className="i faint" aria-hidden />
              )
            }
          />
        ))}
      </ul>
      <p className="sr" role="status">
        {announced}
      </p>
      <Problem refusal={place.refusal} />
    </>
  );
}

interface HandleProps {
  task: QueuedTask;
  place: number;
  tasks: readonly QueuedTask[];
  drag: ReturnType<typeof useDrag>;
  onMove: (index: number) => void;
}

/** Dragged, or pressed for the same as a menu. */
function Handle({ task, place, tasks, drag, onMove }: HandleProps) {
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const item = (name: string, index: number) =>
    moved(tasks, task.taskId, index) && (
      <button
        type="button"
        onClick={() => {
          menu.current?.hidePopover();
          onMove(index);
        }}
      >
        {name}
      </button>
    );
  return (
    <>
      <IconButton
        icon={GripVertical}
        className="grip"
        label={words.queue.move(task.content.slice(0, 80))}
        popoverTarget={id}
        {...drag.handle(task.taskId)}
        onClickCapture={(event) => {
          if (drag.wasDrag()) event.preventDefault();
        }}
      />
      <div className="menu up start" id={id} popover="auto" ref={menu}>
        {item(words.queue.up, place - 1)}
        {item(words.queue.down, place + 1)}
        {item(words.queue.toFront, 0)}
      </div>
    </>
  );
}

interface ChipProps {
  sessionId: string;
  task: QueuedTask;
  queue: MessageQueue;
  isLate: boolean;
  onEdit: (task: QueuedTask, isEdited: boolean) => void;
  /** Before the text: where it can be moved by. */
  handle: ReactNode;
  /** Sends it into the turn that runs. */
  now: ReactNode;
  className: string;
}

function Chip({ sessionId, task, queue, isLate, onEdit, handle, now, className }: ChipProps) {
  const { client } = useRooms();
  const params = { id: sessionId, taskId: task.taskId };
  const [draft, keepDraft] = useState<string>();
  const setDraft = (next: string | undefined) => {
    keepDraft(next);
    onEdit(task, next !== undefined);
  };
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
    if (!isLate && draft !== undefined && draft.trim() !== '') void edit.run();
  };
  if (draft !== undefined)
    return (
      <li className={isLate ? 'editing late' : 'editing'}>
        <textarea
          rows={1}
          autoFocus
          aria-label={words.queue.edited}
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={(event) => {
            if (isComposing(event.nativeEvent)) return;
            if (event.key === 'Escape') setDraft(undefined);
            if (event.key === 'Enter' && !event.shiftKey) submit(event);
          }}
        />
        <button type="button" className="small" onClick={() => setDraft(undefined)}>
          {words.cancel}
        </button>
        {!isLate && (
          <button type="button" className="small primary" aria-disabled={edit.busy} onClick={submit}>
            {words.save}
          </button>
        )}
        {isLate ? (
          <p className="soft" role="status">
            {words.queue.late}
          </p>
        ) : (
          <Problem refusal={edit.refusal} />
        )}
      </li>
    );
  return (
    <li className={className}>
      {handle}
      <span className="grow cut">{task.content}</span>
      {now}
      {!task.choice && (
        <IconButton
          icon={Pencil}
          label={words.queue.edit(task.content.slice(0, 80))}
          onClick={() => setDraft(task.content)}
        />
      )}
      <IconButton
        icon={X}
        label={words.queue.remove(task.content.slice(0, 80))}
        aria-disabled={remove.busy}
        onClick={() => void remove.run()}
      />
      <Problem refusal={remove.refusal} />
    </li>
  );
}
