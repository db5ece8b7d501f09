/** "Permissions and model" in the menu of a session whose daemon reads settings from a process of the agent alone: opening them starts that process. */
import { useState } from 'react';
import type { Device, Session, Setting } from '@relay/protocol';
import { refusalOf } from '../api/refusal.ts';
import { sentenceFor } from '../api/words.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { browserName } from '../ui/browser-name.ts';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';
import { Sheet } from '../ui/sheet.tsx';
import { SettingsSheet } from './settings-sheet.tsx';
import '../styles/composer-controls.css';

interface PermissionsProps {
  session: Session;
  device: Device;
}

export function Permissions(props: PermissionsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={({ currentTarget }) => {
          currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
          setOpen(true);
        }}
      >
        {words.controls.item}
      </button>
      {isOpen && <Opened {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function Opened({ session, device, onClose }: PermissionsProps & { onClose: () => void }) {
  const { client } = useRooms();
  const params = { id: session.id };
  const found = useResource(session.id, () => client.call('readSettings', { params }));
  const agent = nameOfAgent(session.agentType, device);
  const title = words.controls.title(agent);
  const choose = async ({ id }: Setting, value: string): Promise<string | undefined> => {
    try {
      const body = { id, value, on: browserName(navigator.userAgent) };
      const { settings } = await client.call('changeSetting', { params, body });
      found.change((now) => ({ ...now, settings }));
      return undefined;
    } catch (error) {
      return sentenceFor(refusalOf(error));
    }
  };
  if (found.kind === 'ready' && found.value.settings.length > 0)
    return (
      <SettingsSheet
        {...{ title, agent, onClose }}
        machine={device.name}
        settings={found.value.settings}
        asOf={undefined}
        isNew
        onChoose={choose}
      />
    );
  return (
    <Sheet title={title} close={words.controls.close} onClose={onClose}>
      {found.kind === 'failed' ? (
        <Problem refusal={found.refusal} onRetry={found.reload} />
      ) : (
        <p role="status">{found.kind === 'ready' ? words.controls.none(agent) : words.controls.opening(agent)}</p>
      )}
    </Sheet>
  );
}
