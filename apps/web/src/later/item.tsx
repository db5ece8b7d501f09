/** One message with a time: its text, time and actions. */
import { useState } from 'react';
import type { LaterTask } from '@relay/protocol';
import { Link } from 'wouter';
import { fullTime, momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Pencil } from '../transcript/icons.tsx';
import { submitting, useAction } from '../ui/action.ts';
import { sessionPath } from '../ui/address.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Clock, X } from '../ui/icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { LaterDialog } from './dialog.tsx';
import { LaterRow } from './row.tsx';

interface LaterItemProps {
  sessionId: string;
  /** The title of the session, in a list of several sessions. */
  title?: string;
  task: LaterTask;
  onChanged: () => void;
}

export function LaterItem({ sessionId, title, task, onChanged }: LaterItemProps) {
  const { client } = useRooms();
  const params = { id: sessionId, taskId: task.taskId };
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState<string>();
  const change = useAction(async (body: { content: string } | { notBefore: string }) => {
    await client.call('changeQueued', { params, body });
    setOpen(false);
    setDraft(undefined);
    onChanged();
  });
  const remove = useAction(async () => {
    await client.call('removeQueued', { params });
    onChanged();
  });
  const short = task.content.slice(0, 80);
  const save = submitting((): void => {
    if (draft !== undefined && draft.trim() !== '') void change.run({ content: draft });
  });
  if (draft !== undefined)
    return (
      <li className="editing">
        <textarea
          rows={1}
          autoFocus
          aria-label={words.later.edited}
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={(event) => event.key === 'Escape' && setDraft(undefined)}
        />
        <button type="button" className="small" onClick={() => setDraft(undefined)}>
          {words.cancel}
        </button>
        <button type="button" className="small primary" aria-disabled={change.busy} onClick={save}>
          {words.save}
        </button>
        <Problem refusal={change.refusal} />
      </li>
    );
  const dialog = isOpen && (
    <LaterDialog
      kind="newTime"
      text={task.content}
      busy={change.busy}
      refusal={change.refusal}
      onChoose={(notBefore) => void change.run({ notBefore })}
      onClose={() => setOpen(false)}
    />
  );
  if (title !== undefined)
    return (
      <LaterRow
        icon={Clock}
        name={task.content}
        details={
          <Link href={sessionPath(sessionId)} className="fine cut">
            {title}
          </Link>
        }
        time={
          <time dateTime={task.notBefore} title={fullTime(task.notBefore)}>
            {momentOf(task.notBefore)}
          </time>
        }
        actions={[
          { name: words.later.newTime, act: () => setOpen(true) },
          { name: words.later.editText, act: () => setDraft(task.content) },
          { name: words.later.dontSend, act: () => void remove.run(), isDangerous: true },
        ]}
      >
        <Problem refusal={remove.refusal} />
        {dialog}
      </LaterRow>
    );
  return (
    <li>
      <Clock className="i faint" aria-hidden />
      <span className="grow cut">{task.content}</span>
      <button
        type="button"
        className="ghost small num"
        aria-label={`${momentOf(task.notBefore)}. ${words.later.move(short)}`}
        title={fullTime(task.notBefore)}
        onClick={() => setOpen(true)}
      >
        {momentOf(task.notBefore)}
      </button>
      <IconButton icon={Pencil} label={words.later.edit(short)} onClick={() => setDraft(task.content)} />
      <IconButton
        icon={X}
        label={words.later.remove(short)}
        aria-disabled={remove.busy}
        onClick={() => void remove.run()}
      />
      <Problem refusal={remove.refusal} />
      {dialog}
    </li>
  );
}
