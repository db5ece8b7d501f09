/** Deletes the session that is open, after a question. */
import type { Session } from '@relay/protocol';
import { useLocation } from 'wouter';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Confirm } from '../ui/confirm.tsx';

export default function Remove({ session: { id, title }, onNo }: { session: Session; onNo: () => void }) {
  const { client } = useRooms();
  const [, navigate] = useLocation();
  const yes = useAction(async () => {
    await client.call('deleteSession', { params: { id } });
    navigate('/sessions', { replace: true });
  });
  return (
    <Confirm
      title={`${words.list.remove}: ${title || words.untitled}`}
      action={words.list.remove}
      doing={words.list.removing}
      yes={yes}
      onNo={onNo}
    >
      <p>{words.list.deleteMore}</p>
    </Confirm>
  );
}
