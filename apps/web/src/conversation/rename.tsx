/** A new title for a session. */
import { useState } from 'react';
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/notice.tsx';
import { Submit } from '../ui/submit.tsx';

interface RenameProps {
  session: Session;
  onChange: (session: Session) => void;
  onDone: () => void;
}

export default function Rename({ session, onChange, onDone }: RenameProps) {
  const { client } = useRooms();
  const [title, setTitle] = useState(session.title);
  const rename = useAction(async () => {
    onChange(await client.call('updateSession', { params: { id: session.id }, body: { title: title.trim() } }));
    onDone();
  });
  return (
    <form className="in-line" onSubmit={submitting(() => title.trim() !== '' && rename.run())}>
      <Field
        label={words.title}
        name="title"
        autoComplete="off"
        required
        autoFocus
        maxLength={200}
        value={title}
        onValue={setTitle}
      />
      <button type="button" onClick={onDone}>
        {words.cancel}
      </button>
      <Submit busy={rename.busy} busyText={words.saving}>
        {words.save}
      </Submit>
      <Problem refusal={rename.refusal} />
    </form>
  );
}
