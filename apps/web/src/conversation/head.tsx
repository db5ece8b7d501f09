/** Name and shelf of a session. */
import { type FormEvent, useState } from 'react';
import type { Device, Session } from '@relay/protocol';
import { Link } from 'wouter';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { devicePath } from '../ui/address.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/notice.tsx';
import { Submit } from '../ui/submit.tsx';

interface HeadProps {
  session: Session;
  device: Device | undefined;
  onChange: (session: Session) => void;
}

export function Head({ session, device, onChange }: HeadProps) {
  const { client } = useRooms();
  const archive = useAction(async () =>
    onChange(await client.call('updateSession', { params: { id: session.id }, body: { archived: !session.archived } })),
  );
  const [renaming, setRenaming] = useState(false);
  return (
    <div className="session-head">
      <p className="card-facts">
        <Link href={devicePath(session.deviceId)}>{device?.name ?? 'Device'}</Link>
        <span>{session.agentType}</span>
        {session.projectPath !== '' && <code>{session.projectPath}</code>}
        {session.archived && <strong>Archived</strong>}
      </p>
      <div className="actions start">
        <button type="button" aria-expanded={renaming} onClick={() => setRenaming(!renaming)}>
          Rename
        </button>
        <button type="button" aria-disabled={archive.busy} onClick={() => void archive.run()}>
          {session.archived ? 'Take out of the archive' : 'Archive'}
        </button>
      </div>
      <Problem refusal={archive.refusal} />
      {renaming && <Rename session={session} onChange={onChange} onDone={() => setRenaming(false)} />}
    </div>
  );
}

function Rename({ session, onChange, onDone }: Omit<HeadProps, 'device'> & { onDone: () => void }) {
  const { client } = useRooms();
  const [title, setTitle] = useState(session.title);
  const rename = useAction(async () => {
    onChange(await client.call('updateSession', { params: { id: session.id }, body: { title: title.trim() } }));
    onDone();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (title.trim() !== '') void rename.run();
  };
  return (
    <form className="in-line" onSubmit={submit}>
      <Field label="Title" name="title" autoComplete="off" required maxLength={200} value={title} onValue={setTitle} />
      <Submit busy={rename.busy} busyText="Saving …">
        Save
      </Submit>
      <Problem refusal={rename.refusal} />
    </form>
  );
}
