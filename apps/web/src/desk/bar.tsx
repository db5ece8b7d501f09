/** Above the composer: who else has the session open, and how it comes here. */
import { useCallback, useEffect, useState } from 'react';
import type { Device, Held, Session } from '@relay/protocol';
import { fullTime, momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useAsOf } from '../ui/as-of.ts';
import { ChevronRight } from '../ui/icons.tsx';
import { AppWindow } from '../ui/later-icons.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Sheet } from '../ui/sheet.tsx';
import { useNow } from '../ui/time.tsx';
import { Monitor, Server } from './icons.tsx';
import { lineOf, machineOf, titleOf } from './said.ts';
import './desk.css';

export interface BarProps {
  session: Session;
  device: Device | undefined;
}

const kindOf = ({ state, sure, why }: Held) => {
  if (!sure || why !== undefined) return '';
  return state === 'waiting' ? ' needs' : state === 'busy' ? ' working' : '';
};

const signOf = ({ why }: Held) => (why === 'shared' ? Server : why === undefined ? Monitor : AppWindow);

export function DeskBar({ session, device }: BarProps) {
  const { client } = useRooms();
  const now = useNow(20_000);
  const asOf = useAsOf();
  const [showing, setShowing] = useState(false);
  const [result, setResult] = useState<{ name: string; held: Held }>();
  const { held: reported } = session;
  const held = device?.status === 'offline' ? undefined : reported;
  const machine = machineOf(device);
  const release = useAction(async (of: Held, stopTurn: boolean) => {
    setResult(undefined);
    const body = stopTurn ? { stopTurn } : {};
    const released = await client.call('releaseSession', { params: { id: session.id }, body });
    setResult({ name: released.result, held: of });
  });
  const clear = useCallback(() => setResult(undefined), []);
  const isOver = result && !held;
  if (!held && !isOver) return null;
  const Sign = held ? signOf(held) : Monitor;
  const canEnd = held?.ends === true && held.state !== 'busy' && held.state !== 'waiting';
  const title = held && titleOf(held);
  return (
    <>
      {held && (
        <section className={`desk-bar${kindOf(held)}`} aria-label={title}>
          <Sign className="i" aria-hidden />
          <p className="grow">
            <strong>{title}</strong>
            <span>
              {lineOf(held, machine, now)}
              {asOf !== undefined && ` · ${words.asOf(momentOf(asOf))}`}
            </span>
          </p>
          <span className="acts">
            {canEnd && (
              <button
                type="button"
                className="small"
                aria-disabled={release.busy || asOf !== undefined}
                onClick={() => asOf === undefined && void release.run(held, false)}
              >
                {release.busy ? words.desk.continuing : words.desk.continueHere}
              </button>
            )}
            <button type="button" className="small ghost" onClick={() => setShowing(true)}>
              {words.desk.details} <ChevronRight className="i" aria-hidden />
            </button>
          </span>
        </section>
      )}
      <Outcome
        result={result}
        agent={held?.program ?? ''}
        onStop={() => held && void release.run(held, true)}
        onDone={clear}
      />
      {release.refusal &&
        (release.refusal.code === 'DEVICE_OFFLINE' || release.refusal.code === 'DEVICE_TIMEOUT' ? (
          <Notice>
            {release.refusal.code === 'DEVICE_OFFLINE' ? words.desk.offline(machine) : words.desk.silent(machine)}
          </Notice>
        ) : (
          <Problem refusal={release.refusal} />
        ))}
      {showing && held && (
        <Sheet title={titleOf(held)} close={words.desk.close} className="desk-sheet" onClose={() => setShowing(false)}>
          <Facts held={held} session={session} />
        </Sheet>
      )}
    </>
  );
}

const shownMs = 6000;

function Outcome({
  result,
  agent,
  onStop,
  onDone,
}: {
  result: { name: string; held: Held } | undefined;
  agent: string;
  onStop: () => void;
  onDone: () => void;
}) {
  const isGood = result?.name === 'released' || result?.name === 'not_held';
  useEffect(() => {
    if (!isGood) return undefined;
    const timer = setTimeout(onDone, shownMs);
    return () => clearTimeout(timer);
  }, [result, isGood, onDone]);
  if (!result) return null;
  const { name, held } = result;
  if (name === 'released' || name === 'not_held') return <Notice>{words.desk.results[name]}</Notice>;
  if (name === 'busy')
    return (
      <Notice>
        {words.desk.busy(agent)}{' '}
        <button type="button" className="small danger" onClick={onStop}>
          {words.desk.stop}
        </button>
      </Notice>
    );
  if (name === 'failed') return <Notice>{words.desk.failed(held.terminal ?? words.desk.itsTerminal)}</Notice>;
  return <Notice>{words.desk.cannot(held.program)}</Notice>;
}

function Facts({ held, session }: { held: Held; session: Session }) {
  const { facts } = words.desk;
  const rows = [
    [facts.program, held.program],
    [facts.terminal, held.terminal ?? ''],
    [facts.folder, session.projectPath],
    [facts.since, fullTime(held.since)],
  ].filter(([, value]) => value !== '');
  return (
    <>
      <dl className="desk-facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="soft">{facts.more}</p>
    </>
  );
}
