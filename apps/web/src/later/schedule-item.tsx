/** A message that repeats: its rule, its next time, how its last run went, and its actions. */
import { useState } from 'react';
import type { Device, Schedule, ScheduleRun } from '@relay/protocol';
import { withoutMarks } from '@relay/protocol/plain';
import { Link } from 'wouter';
import { fullTime, momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Pencil } from '../transcript/icons.tsx';
import { useAction } from '../ui/action.ts';
import { sessionPath } from '../ui/address.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';
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
  const short = name.slice(0, 80);
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const about = [
    ruleOf(schedule.cron),
    ...(schedule.zone === zone ? [] : [schedule.zone]),
    machine,
    nameOfAgent(schedule.agentType, device),
  ];
  const button = (label: string, what: Parameters<typeof act.run>[0]) => (
    <button
      type="button"
      className="small"
      aria-label={`${label}: ${short}`}
      aria-disabled={act.busy}
      onClick={() => void act.run(what)}
    >
      {label}
    </button>
  );
  return (
    <li className="schedule">
      <span className="grow">
        <span className="cut">{name}</span>
        <span className="fine cut">{about.filter((part) => part !== '').join(' · ')}</span>
        {schedule.lastRun && <LastRun run={schedule.lastRun} machine={machine} />}
      </span>
      <span className="fine num">
        {schedule.nextAt === undefined ? (
          schedule.pausedFor === undefined ? (
            later.over
          ) : (
            later.paused[schedule.pausedFor]
          )
        ) : (
          <time dateTime={schedule.nextAt} title={schedule.next.map(fullTime).join('\n')}>
            {momentOf(schedule.nextAt)}
          </time>
        )}
      </span>
      <span className="acts">
        {button(later.runNow, 'run')}
        {button(schedule.paused ? later.resume : later.pause, 'pause')}
        <IconButton icon={Pencil} label={later.edit(short)} onClick={() => setOpen(true)} />
        <IconButton icon={X} label={later.removeSchedule(short)} onClick={() => void act.run('remove')} />
      </span>
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
    </li>
  );
}
