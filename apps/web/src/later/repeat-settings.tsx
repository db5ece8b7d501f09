/** How the runs of a schedule work: settings of its agent. Only a choice here, never the default of the machine, lets a run work without asking. */
import { Suspense, useState } from 'react';
import type { Device, MessageSetting } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { SettingChips } from '../conversation/setting-chips.tsx';
import { isDangerous, withValues } from '../conversation/settings.ts';
import { useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { useResource } from '../ui/resource.ts';
import '../styles/composer-controls.css';

const Sheet = loadedLater(async () => (await import('../conversation/settings-sheet.tsx')).SettingsSheet);

interface RepeatSettingsProps {
  device: Device;
  agentType: string;
  /** As a person reads it. */
  rule: string;
  chosen: readonly MessageSetting[];
  onChosen: (settings: readonly MessageSetting[], dangerous: boolean) => void;
}

export function RepeatSettings({ device, agentType, rule, chosen, onChosen }: RepeatSettingsProps) {
  const { client } = useRooms();
  const params = { id: device.id };
  const found = useResource('', () => client.call('readDeviceSettings', { params, query: { agentType } }));
  const [isOpen, setOpen] = useState(false);
  if (found.kind !== 'ready') return null;
  const isDanger = ({ id, value }: MessageSetting) =>
    found.value.settings.some((one) => one.id === id && isDangerous({ ...one, value }));
  const isChosen = ({ id }: { id: string }) => chosen.some((one) => one.id === id);
  const settings = withValues(found.value.settings, chosen).map((one) =>
    isDangerous(one) && !isChosen(one) ? { ...one, value: '' } : one,
  );
  if (settings.length === 0) return null;
  const agent = nameOfAgent(agentType, device);
  return (
    <div className="field">
      <span className="lab">{words.controls.how}</span>
      <SettingChips settings={settings} isOld={false} isForm onOpen={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <Sheet
            title={words.controls.titleNew(agent)}
            {...{ agent, settings, rule }}
            machine={device.name}
            asOf={undefined}
            isNew
            onChoose={(setting, value) => {
              const next = [...chosen.filter(({ id }) => id !== setting.id), { id: setting.id, value }];
              onChosen(next, next.some(isDanger));
              return Promise.resolve(undefined);
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
