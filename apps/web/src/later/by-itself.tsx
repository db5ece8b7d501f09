/** Shows above the composer that the relay continued the session, as its person chose. */
import { momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useResource } from '../ui/resource.ts';

export function ByItself({ taskId }: { taskId: string }) {
  const { client } = useRooms();
  const found = useResource(taskId, () => client.call('readTask', { params: { id: taskId } }));
  const at = found.kind === 'ready' ? (found.value.sentAt ?? found.value.notBefore) : undefined;
  return at === undefined ? null : <p className="soft fine">{words.later.byItself(momentOf(at))}</p>;
}
