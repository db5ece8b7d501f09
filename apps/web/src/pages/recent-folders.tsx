/** Folders in which sessions of a machine worked: the newest as buttons, all of them as suggestions of the field. */
import { Folder } from 'lucide-react';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { folderOf } from '../ui/folder.ts';
import { useResource } from '../ui/resource.ts';

const shown = 5;

interface FoldersProps {
  /** Of the list of suggestions. */
  id: string;
  deviceId: string;
  chosen: string;
  onChoose: (path: string) => void;
}

export function Folders({ id, deviceId, chosen, onChoose }: FoldersProps) {
  const { client } = useRooms();
  const found = useResource(deviceId, async () => ({
    deviceId,
    recent: (await client.call('listFolders', { params: { id: deviceId } })).recent,
  }));
  // Without them a folder is written by hand.
  const recent = found.kind === 'ready' && found.value.deviceId === deviceId ? found.value.recent : [];
  const first = recent.slice(0, shown);
  const isTwice = (path: string) => first.filter((one) => folderOf(one.path) === folderOf(path)).length > 1;
  return (
    <>
      <datalist id={id}>
        {recent.map(({ path }) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {first.length > 0 && (
        <div className="chips folders" role="group" aria-label={words.recentFolders}>
          {first.map(({ path }) => (
            <button
              key={path}
              type="button"
              className="small"
              title={path}
              aria-pressed={path === chosen}
              onClick={() => onChoose(path === chosen ? '' : path)}
            >
              <Folder className="i" aria-hidden />
              <span className="cut">{isTwice(path) ? path : folderOf(path) || path}</span>
            </button>
          ))}
        </div>
      )}
    </>
  );
}
