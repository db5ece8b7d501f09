/** A message that repeats: its rule, its next time, how its last run went, and its actions. */
import { useState } from 'react';
import type { Device, Schedule, ScheduleRun } from '@relay/protocol';
import { withoutMarks } from '@relay/protocol/plain';
import { Link } from 'wouter';
import { fullTime, momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { sessionPath } from '../ui/address.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { Repeat } from '../ui/icons.tsx';
import { Pause } from '../ui/later-icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';
import { LaterRow } from './row.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ruleOf } from './schedule-words.ts';

function LastRun({ run, machine }: { run: ScheduleRun; machine: string }) {
  const { later } = words;
  const at = momentOf(run.dueAt);
  const reason = later.reasons[run.reason as keyof typeof later.reasons]?.(machine);
  const late = run.lateSeconds === undefined ? '' : ` · ${later.late(Math.round(run.lateSeconds / 60))}`;
  const text = `${later.runs[run.state](at)}${late}`;
  const more = reason ?? withoutMarks(run.lastMessage ?? '');
  return (
    <span className="fine cut">
      {run.sessionId === undefined ? text : <Link href={sessionPath(run.sessionId)}>{text}</Link>}
      {more !== '' && ` · ${more}`}
    </span>
  );
}

/** Its newest runs, each with its session; they load when they are opened. */
function Runs({ id, machine }: { id: string; machine: string }) {
  const { client } = useRooms();
  const [isOpen, setOpen] = useState(false);
  const found = useResource(`${id} ${isOpen}`, async () =>
    isOpen ? (await client.call('listScheduleRuns', { params: { id } })).runs : [],
  );
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.later.sessions}</summary>
      <Problem refusal={found.kind === 'failed' ? found.refusal : undefined} />
      <ul>
        {(found.kind === 'ready' ? found.value : []).map((run) => (
          <li key={run.dueAt}>
            <LastRun run={run} machine={machine} />
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ScheduleItemProps {
  schedule: Schedule;
  devices: readonly Device[];
  onChanged: () => void;
}

export function ScheduleItem({ schedule, devices, onChanged }: ScheduleItemProps) {
  const { client } = useRooms();
  const [isOpen, setOpen] = useState(false);
  const params = { id: schedule.id };
  const act = useAction(async (name: 'run' | 'pause' | 'remove') => {
    if (name === 'run') await client.call('runSchedule', { params });
    else if (name === 'remove') await client.call('deleteSchedule', { params });
    else await client.call('changeSchedule', { params, body: { paused: !schedule.paused } });
    onChanged();
  });
  const { later } = words;
  const device = devices.find(({ id }) => id === schedule.deviceId);
  const machine = device?.name ?? words.list.machine;
  const name = schedule.title ?? schedule.message;
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const about = [
    ruleOf(schedule.cron),
    ...(schedule.zone === zone ? [] : [schedule.zone]),
    machine,
    nameOfAgent(schedule.agentType, device),
  ];
  return (
    <LaterRow
      icon={schedule.paused ? Pause : Repeat}
      isOff={schedule.paused}
      name={name}
      details={
        <>
          <span className="fine">{about.filter((part) => part !== '').join(' · ')}</span>
          {schedule.lastRun && <LastRun run={schedule.lastRun} machine={machine} />}
        </>
      }
      time={
        schedule.nextAt === undefined ? (
          schedule.pausedFor === undefined ? (
            later.over
          ) : (
            later.paused[schedule.pausedFor]
          )
        ) : (
          <time dateTime={schedule.nextAt} title={schedule.next.map(fullTime).join('\n')}>
            {momentOf(schedule.nextAt)}
          </time>
        )
      }
      actions={[
        { name: later.runNow, act: () => void act.run('run') },
        { name: schedule.paused ? later.resume : later.pause, act: () => void act.run('pause') },
        { name: later.changeSchedule, act: () => setOpen(true) },
        { name: later.deleteSchedule, act: () => void act.run('remove'), isDangerous: true },
      ]}
    >
      {schedule.lastRun && <Runs id={schedule.id} machine={machine} />}
      <Problem refusal={act.refusal} />
      {isOpen && (
        <ScheduleDialog
          schedule={schedule}
          devices={devices}
          onSaved={() => {
            setOpen(false);
            onChanged();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </LaterRow>
  );
}
