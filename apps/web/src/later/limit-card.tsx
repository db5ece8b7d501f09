/** Continues a session after the usage limit of its agent: at the reset, or at a time of the person's choice. A chunk of its own. */
import { useId, useState } from 'react';
import type { Device, Session } from '@relay/protocol';
import { momentOf, timeOf, words } from '../catalogue.ts';
import type { useSending } from '../conversation/use-sending.ts';
import { useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { AlarmClock } from '../ui/later-icons.tsx';
import { useAction } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { LaterDialog } from './dialog.tsx';
import '../styles/sheet.css';

/** The relay sends this long after the reset at the earliest, and spreads the sessions of an agent over the time after that. */
const marginMs = 30_000;
const spreadMs = 90_000;
const hourMs = 3_600_000;

interface LimitCardProps {
  session: Session;
  limit: NonNullable<Session['limit']>;
  device: Device | undefined;
  send: ReturnType<typeof useSending>[0];
  onClose: () => void;
}

export function LimitCard({ session, limit, device, send, onClose }: LimitCardProps) {
  const [text, setText] = useState(words.later.goOn);
  const [isTiming, setTiming] = useState(false);
  const [now] = useState(() => Date.now());
  const id = useId();
  const agent = nameOfAgent(session.agentType, device);
  const { resetsAt } = limit;
  const isOver = resetsAt !== undefined && Date.parse(resetsAt) <= now;
  const isSendable = text.trim() !== '' && !send.busy;
  const at = (ms: number) => {
    if (isSendable) void send.run(undefined, text, [], { notBefore: new Date(ms).toISOString(), because: 'limit' });
  };
  const atReset = () => at(Date.parse(resetsAt ?? '') + marginMs + Math.random() * spreadMs);
  const { client } = useRooms();
  const [isAuto, setAuto] = useState(device?.continues?.includes(session.agentType) ?? false);
  const change = useAction(async (mode: 'ask' | 'auto') => {
    const params = { id: session.deviceId };
    await client.call('changeContinue', { params, body: { agentType: session.agentType, mode } });
    setAuto(mode === 'auto');
  });
  const button = (name: string, act: () => void, className = '') => (
    <button key={name} type="button" className={className} aria-disabled={!isSendable} onClick={act}>
      {name}
    </button>
  );
  const reset = resetsAt === undefined || isOver ? undefined : timeOf(resetsAt);
  const title = isOver
    ? words.later.limitOver
    : reset === undefined
      ? words.later.noTime(agent)
      : words.later.goOnAt(reset);
  const hours = resetsAt === undefined ? [1, 5] : [];
  return (
    <section className="q" aria-labelledby={id}>
      <div className="h">
        <AlarmClock className="i" aria-hidden />
        <span>{words.later.limitOf(limit.name, agent)}</span>
        {resetsAt !== undefined && !isOver && <span className="r">{words.later.resets(momentOf(resetsAt))}</span>}
      </div>
      <div className="bd">
        <h2 id={id}>{title}</h2>
        <input
          type="text"
          aria-label={words.later.goOnText}
          maxLength={4096}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        {!isOver && <p className="soft fine">{words.later.unlessYouWrite(device?.name ?? words.list.machine)}</p>}
        {device && resetsAt !== undefined && !isOver && (
          <label className="mf">
            <span className="grow">
              {words.later.always}
              <span className="d">{words.later.alwaysMore(agent, device.name)}</span>
            </span>
            <input
              type="checkbox"
              role="switch"
              className="sw"
              checked={isAuto}
              aria-disabled={change.busy}
              onChange={({ target }) => void change.run(target.checked ? 'auto' : 'ask')}
            />
          </label>
        )}
        <Problem refusal={change.refusal ?? send.refusal} />
      </div>
      <div className="acts">
        {isOver && button(words.later.goOnNow, () => isSendable && void send.run(undefined, text, []), 'primary')}
        {reset !== undefined && button(words.later.goOnThen(reset), atReset, 'primary')}
        {hours.map((count) => button(words.later.inHours(count), () => at(Date.now() + count * hourMs)))}
        {!isOver && button(words.later.otherTime, () => setTiming(true))}
        <button type="button" className="ghost" onClick={onClose}>
          {words.later.notNow}
        </button>
      </div>
      {isTiming && (
        <LaterDialog
          text={text}
          busy={send.busy}
          refusal={send.refusal}
          onChoose={(notBefore) => at(Date.parse(notBefore))}
          onClose={() => setTiming(false)}
        />
      )}
    </section>
  );
}
