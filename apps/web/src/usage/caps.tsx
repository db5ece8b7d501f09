/** The caps of an agent on a machine: amounts at which the daemon asks before it continues. */
import { useState } from 'react';
import type { SessionSettings } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { type CapValues, money } from './figures.ts';

const amounts = ['none', '1', '2', '5', '10', '20', '50', '100'];
const ids = ['relay.ask_session', 'relay.ask_day'] as const;

interface CapsProps {
  sessionId: string;
  caps: CapValues;
  /** The agent and its machine. */
  where: string;
  /** Another app changed a setting. */
  onOutdated: () => void;
}

export function Caps({ sessionId, caps, where, onOutdated }: CapsProps) {
  const { client } = useRooms();
  const [chosen, setChosen] = useState<CapValues>({});
  const change = useAction(async (id: string, value: string) => {
    const { settings }: SessionSettings = await client.call('changeSetting', {
      params: { id: sessionId },
      body: { id, value },
    });
    setChosen(Object.fromEntries(settings.map((setting) => [setting.id, setting.value])));
  });
  useFrames((frame) => {
    if (frame.type !== 'settings_changed' || frame.sessionId !== sessionId) return;
    setChosen({});
    onOutdated();
  });
  return (
    <>
      <ul className="set-list">
        {ids.map((id) => (
          <li key={id}>
            <label className="li">
              <span className="grow">
                <b>{words.usage.askMe}</b>
                <span className="d">{words.usage.askMeOf(id === 'relay.ask_session', where)}</span>
              </span>
              <select
                value={chosen[id] ?? caps[id] ?? 'none'}
                disabled={change.busy}
                onChange={({ target }) => void change.run(id, target.value)}
              >
                {amounts.map((amount) => (
                  <option key={amount} value={amount}>
                    {amount === 'none'
                      ? words.usage.never
                      : money({ amount: Number(amount), currency: 'USD' }).replace(/[.,]00/, '')}
                  </option>
                ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
      <Problem refusal={change.refusal} />
    </>
  );
}
