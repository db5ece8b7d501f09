/**
 * The second line of the composer, between the plus sign and the buttons, for daemons with `controls`. Places in order: permissions and
 * model (`.sets`), the context ring (`.use`), and the buttons for a message during a turn (`.alt`). A chunk of its own.
 */
import { type RefObject, Suspense, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Device, MessageSetting, Session, Setting } from '@relay/protocol';
import { isAway, refusalOf } from '../api/refusal.ts';
import { sentenceFor } from '../api/words.ts';
import { words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { browserName } from '../ui/browser-name.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { useResource } from '../ui/resource.ts';
import { isWorking } from './activity.tsx';
import { DangerNote, SettingChips } from './setting-chips.tsx';
import { keepPending, pendingSettings } from './pending-settings.ts';
import { isDangerous, modeOf, optionOf, rememberShown, shownBefore, withValues } from './settings.ts';
import '../styles/composer-controls.css';

const Sheet = loadedLater(async () => (await import('./settings-sheet.tsx')).SettingsSheet);

export interface ControlsProps {
  session: Session;
  device: Device;
  /** The text in the field. */
  text: string;
  field: RefObject<HTMLTextAreaElement | null>;
  /** The place above the composer. */
  above: HTMLElement | null;
}

export default function ComposerControls({ session, device, text, field, above }: ControlsProps) {
  const { client } = useRooms();
  const { id } = session;
  const params = { id };
  const isOffline = device.status === 'offline';
  const found = useResource(`${id} ${device.status}`, async () => {
    if (!isOffline) {
      const answer = await client.call('readSettings', { params, query: { known: '1' } });
      if (answer.settings.length > 0) rememberShown(id, answer);
      return answer;
    }
    return shownBefore(id) ?? { sessionId: id, settings: [] };
  });
  useFrames((frame) => {
    if (frame.type === 'settings_changed' && frame.sessionId === id) found.reload();
  });
  const [pending, setPending] = useState<MessageSetting[]>(() => pendingSettings(id));
  const lastTask = session.lastTask?.id;
  // A message took them along.
  useEffect(() => setPending(pendingSettings(id)), [id, lastTask]);
  const [isOpen, setOpen] = useState(false);
  const loaded = found.kind === 'ready' ? found.value : undefined;
  const settings = withValues(loaded?.settings ?? [], pending);

  /** Resolves with the reason why it was refused. */
  const choose = async (setting: Setting, value: string, keep: boolean): Promise<string | undefined> => {
    const wait = () => {
      const next = [
        ...pending.filter((one) => one.id !== setting.id),
        { id: setting.id, value, ...(keep ? { keep } : {}) },
      ];
      keepPending(id, next);
      setPending(next);
    };
    if (isOffline) return void wait();
    const on = browserName(navigator.userAgent);
    try {
      const body = { id: setting.id, value, on, ...(keep ? { keep } : {}) };
      const answer = await client.call('changeSetting', { params, body });
      rememberShown(id, answer);
      found.change((now) => ({ ...now, settings: answer.settings }));
      return undefined;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal.code === 'DEVICE_OFFLINE') return void wait();
      if (refusal.code === 'SIGN_IN_NOT_RECENT') throw error;
      if (!isAway(refusal)) found.reload();
      return sentenceFor(refusal);
    }
  };

  const mode = modeOf(settings);
  /** The last mode that asks, as far as this page knows. */
  const [asking, setAsking] = useState<string>();
  if (mode && !isDangerous(mode) && mode.value !== asking) setAsking(mode.value);
  const next = mode && nextSafe(mode);
  useEffect(() => {
    const { current: box } = field;
    if (!box || !mode || next === undefined) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Tab' || !event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      void choose(mode, next, false);
    };
    box.addEventListener('keydown', onKey);
    return () => box.removeEventListener('keydown', onKey);
  });

  const agent = nameOfAgent(session.agentType, device);
  const asks = mode?.options.filter(({ danger }) => danger !== true) ?? [];
  const safe = (asks.find((option) => option.id === asking) ?? asks[0])?.id;
  return (
    <div className={isWorking(session) && text !== '' ? 'tray busy' : 'tray'}>
      <SettingChips settings={settings} isOld={isOffline} onOpen={() => setOpen(true)} />
      {mode &&
        isDangerous(mode) &&
        above &&
        createPortal(
          <DangerNote
            mode={optionOf(mode)?.name ?? mode.value}
            agent={agent}
            machine={device.name}
            onAskAgain={safe === undefined ? undefined : () => void choose(mode, safe, false)}
          />,
          above,
        )}
      {isOpen && (
        <Suspense>
          <Sheet
            title={words.controls.title(agent)}
            agent={agent}
            machine={device.name}
            settings={settings}
            asOf={isOffline ? (loaded?.asOf ?? '') : undefined}
            onChoose={choose}
            onClose={() => {
              setOpen(false);
              field.current?.focus();
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

/** The next mode that asks. */
function nextSafe(mode: Setting): string | undefined {
  const { options, value } = mode;
  const at = options.findIndex(({ id }) => id === value);
  const order = [...options.slice(at + 1), ...options.slice(0, Math.max(at, 0))];
  return order.find(({ danger }) => danger !== true)?.id;
}
