/** Deletes all archived sessions that match the filter of the list, also unloaded ones; asks first. */
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Confirm } from '../ui/confirm.tsx';
import type { queryOf } from './listed.ts';

interface DeleteArchivedProps {
  query: ReturnType<typeof queryOf>;
  onDone: () => void;
}

export function DeleteArchived({ query, onDone }: DeleteArchivedProps) {
  const { client } = useRooms();
  const empty = useAction(async () => {
    for (;;) {
      const body = { action: 'delete' as const, filter: query };
      const { changed, more } = await client.call('changeSessions', { body });
      if (!more || changed === 0) break;
    }
    onDone();
  });
  return (
    <Confirm
      title={words.list.deleteArchivedTitle}
      action={words.list.remove}
      doing={words.list.removing}
      yes={empty}
      onNo={onDone}
    >
      <p className="soft">{words.list.deleteMore}</p>
    </Confirm>
  );
}
