/** New session: how the agent works, as last time. A choice here is the default for the next session by itself, except a mode that does not ask. */
import { Suspense, useEffect, useState } from 'react';
import type { Device, DeviceAgent, MessageSetting, Setting } from '@relay/protocol';
import { refusalOf } from '../api/refusal.ts';
import { sentenceFor } from '../api/words.ts';
import { momentOf, words } from '../catalogue.ts';
import { SettingChips, ShieldAlert } from '../conversation/setting-chips.tsx';
import { isDangerous, modeOf, rememberShown, shownBefore, withValues } from '../conversation/settings.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { browserName } from '../ui/browser-name.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { useResource } from '../ui/resource.ts';
import '../styles/composer-controls.css';

const Sheet = loadedLater(async () => (await import('../conversation/settings-sheet.tsx')).SettingsSheet);

interface NewSessionControlsProps {
  device: Device;
  agent: DeviceAgent;
  /** Receives the settings of the first message. */
  onSettings: (settings: readonly MessageSetting[]) => void;
}

export function NewSessionControls({ device, agent: { agentType }, onSettings }: NewSessionControlsProps) {
  const { client } = useRooms();
  const params = { id: device.id };
  const key = `${device.id} ${agentType}`;
  const isOffline = device.status === 'offline';
  const found = useResource(`${key} ${device.status}`, async () => {
    if (isOffline) return shownBefore(key) ?? { settings: [] };
    const answer = await client.call('readDeviceSettings', { params, query: { agentType } });
    if (answer.settings.length > 0) rememberShown(key, answer);
    return answer;
  });
  useFrames((frame) => {
    if (frame.type === 'device_settings_changed' && frame.deviceId === device.id) found.reload();
  });
  const [chosen, setChosen] = useState<readonly MessageSetting[]>([]);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => onSettings(chosen), [chosen, onSettings]);
  if (found.kind !== 'ready') return null;
  const agent = nameOfAgent(agentType, device);
  const settings = withValues(found.value.settings, chosen);
  if (settings.length === 0) return <p className="hint">{words.controls.never(agent)}</p>;

  const setDefault = async (setting: Setting, value: string | null) => {
    const body = { agentType, id: setting.id, value, on: browserName(navigator.userAgent) };
    const answer = await client.call('changeDeviceSetting', { params, body });
    found.change((now) => ({ ...now, settings: answer.settings }));
    setChosen((now) => now.filter(({ id }) => id !== setting.id));
  };
  const choose = async (setting: Setting, value: string, keep: boolean): Promise<string | undefined> => {
    const isDanger = setting.options.find(({ id }) => id === value)?.danger === true;
    if (isDanger && keep) {
      try {
        await setDefault(setting, value);
        return undefined;
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal.code === 'SIGN_IN_NOT_RECENT') throw error;
        return sentenceFor(refusal);
      }
    }
    const next = { id: setting.id, value, ...(isDanger ? {} : { keep: true }) };
    setChosen((now) => [...now.filter(({ id }) => id !== setting.id), next]);
    return undefined;
  };
  const mode = modeOf(settings);
  const isDefault = mode !== undefined && !chosen.some(({ id }) => id === mode.id);
  const { asOf } = found.value;
  return (
    <div className="field">
      <span className="lab">
        {words.controls.how} <span className="faint">{words.controls.asLast(device.name)}</span>
      </span>
      <SettingChips settings={settings} isOld={isOffline} isForm onOpen={() => setOpen(true)} />
      {isOffline && asOf !== undefined && <p className="hint">{words.controls.asOfStart(momentOf(asOf))}</p>}
      {mode && isDefault && isDangerous(mode) && !isOffline && (
        <p className="note bad full">
          <ShieldAlert className="i" aria-hidden />
          <span className="grow">{words.controls.dontAsk(agent)}</span>
          <button type="button" className="small" onClick={() => void setDefault(mode, null).catch(() => undefined)}>
            {words.controls.askAgain}
          </button>
        </p>
      )}
      {isOpen && (
        <Suspense>
          <Sheet
            title={words.controls.titleNew(agent)}
            agent={agent}
            machine={device.name}
            settings={settings}
            asOf={isOffline ? (asOf ?? '') : undefined}
            isNew
            onChoose={choose}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
