/** The messages of a session that are sent later, above the composer. */
import { useEffect } from 'react';
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useResource } from '../ui/resource.ts';
import { LaterItem } from './item.tsx';

export function LaterChips({ session: { id, later } }: { session: Session }) {
  const { client } = useRooms();
  const state = `${later?.count} ${later?.next}`;
  const found = useResource(id, async () => (await client.call('readQueue', { params: { id } })).later ?? []);
  const { reload } = found;
  // Also after every change on another page.
  useEffect(() => reload(), [state, reload]);
  const tasks = found.kind === 'ready' ? found.value : [];
  if (tasks.length === 0) return null;
  return (
    <ul className="queue" aria-label={words.later.chips}>
      {tasks.map((task) => (
        <LaterItem key={task.taskId} sessionId={id} task={task} onChanged={reload} />
      ))}
    </ul>
  );
}
