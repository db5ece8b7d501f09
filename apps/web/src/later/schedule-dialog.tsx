/** Makes or changes a message that repeats. */
import { useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Device, Schedule } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { type Every, type Form, cronOf, every, formOf, hourSteps, newForm } from './rule.ts';
import '../styles/later.css';

interface ScheduleDialogProps {
  /** Absent: a new one. */
  schedule?: Schedule;
  devices: readonly Device[];
  onSaved: () => void;
  onClose: () => void;
}

/** A Sunday, for the names of the days. */
const sundayMs = Date.UTC(2026, 10, 29);
const waits = [0, 1800, 7200, 28_800, 86_400];

/** The fields of a rule; which ones depends on the first. */
function RuleFields({ form, onChange: change }: { form: Form; onChange: (changed: Partial<Form>) => void }) {
  const text = words.later;
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'long', timeZone: 'UTC' });
  return (
    <>
      <label>
        {text.day}
        <select value={form.every} onChange={({ target }) => change({ every: target.value as Every })}>
          {every.map((one) => (
            <option key={one} value={one}>
              {text.every[one]}
            </option>
          ))}
        </select>
      </label>
      {form.every === 'week' && (
        <label>
          {text.weekday}
          <select value={form.weekday} onChange={({ target }) => change({ weekday: Number(target.value) })}>
            {[1, 2, 3, 4, 5, 6, 0].map((one) => (
              <option key={one} value={one}>
                {day.format(sundayMs + one * 86_400_000)}
              </option>
            ))}
          </select>
        </label>
      )}
      {form.every === 'month' && (
        <label>
          {text.date}
          <input
            type="number"
            min={1}
            max={31}
            required
            value={form.day}
            onChange={({ target }) => change({ day: Number(target.value) })}
          />
        </label>
      )}
      {form.every === 'hours' && (
        <label>
          {text.hours}
          <select value={form.hours} onChange={({ target }) => change({ hours: Number(target.value) })}>
            {hourSteps.map((one) => (
              <option key={one} value={one}>
                {text.everyHours(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {form.every === 'rule' ? (
        <label>
          {text.rule}
          <input type="text" required value={form.cron} onChange={({ target }) => change({ cron: target.value })} />
        </label>
      ) : (
        <label>
          {text.time}
          <input type="time" required value={form.time} onChange={({ target }) => change({ time: target.value })} />
        </label>
      )}
    </>
  );
}

export function ScheduleDialog({ schedule, devices, onSaved, onClose }: ScheduleDialogProps) {
  const { client } = useRooms();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [message, setMessage] = useState(schedule?.message ?? '');
  const [deviceId, setDevice] = useState(schedule?.deviceId ?? devices[0]?.id ?? '');
  const device = devices.find((one) => one.id === deviceId);
  const [agentType, setAgent] = useState(schedule?.agentType);
  const [projectPath, setPath] = useState(schedule?.projectPath ?? '');
  const [form, setForm] = useState(schedule ? formOf(schedule.cron) : newForm);
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [zone, setZone] = useState(schedule?.zone ?? here);
  const [waitSeconds, setWait] = useState(schedule?.waitSeconds ?? 7200);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const save = useAction(async () => {
    const rule = { message, projectPath, cron: cronOf(form), zone: zone.trim(), waitSeconds };
    const agent = agentType === undefined || schedule?.sessionId !== undefined ? {} : { agentType };
    if (schedule) await client.call('changeSchedule', { params: { id: schedule.id }, body: { ...rule, ...agent } });
    else await client.call('createSchedule', { body: { deviceId, ...rule, ...agent } });
    onSaved();
  });
  const text = words.later;
  const title = schedule ? text.changeSchedule : text.repeat;
  const agents = device?.agents ?? [];
  return createPortal(
    <dialog ref={dialog} className="later-dialog" aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id} className="grow">
          {title}
        </h2>
        <IconButton icon={X} label={text.close} title={text.close} onClick={() => dialog.current?.close()} />
      </header>
      <form onSubmit={submitting(() => void save.run())}>
        <label>
          {text.message}
          <textarea rows={3} required value={message} onChange={({ target }) => setMessage(target.value)} />
        </label>
        {!schedule && (
          <label>
            {text.machine}
            <select
              value={deviceId}
              onChange={({ target }) => {
                setDevice(target.value);
                setAgent(undefined);
              }}
            >
              {devices.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        {agents.length > 1 && schedule?.sessionId === undefined && (
          <label>
            {text.agent}
            <select value={agentType ?? device?.agentType} onChange={({ target }) => setAgent(target.value)}>
              {agents.map((one) => (
                <option key={one.agentType} value={one.agentType}>
                  {nameOfAgent(one.agentType, device)}
                </option>
              ))}
            </select>
          </label>
        )}
        {schedule?.sessionId === undefined && (
          <label>
            {text.folder}
            <input type="text" value={projectPath} onChange={({ target }) => setPath(target.value)} />
          </label>
        )}
        <RuleFields form={form} onChange={(changed) => setForm({ ...form, ...changed })} />
        <label>
          {text.timeZone}
          <input type="text" required value={zone} onChange={({ target }) => setZone(target.value)} />
        </label>
        {zone !== here && <p className="fine">{text.zone(here)}</p>}
        <label>
          {text.ifOffline(device?.name ?? words.list.machine)}
          <select value={waitSeconds} onChange={({ target }) => setWait(Number(target.value))}>
            {[...new Set([...waits, waitSeconds])].map((one) => (
              <option key={one} value={one}>
                {one === 0 ? text.skip : text.waitFor(one / 3600)}
              </option>
            ))}
          </select>
        </label>
        <p className="fine">
          {text.asAlways}{' '}
          {device?.capabilities.includes('controls') ? text.asks : text.decides(device?.name ?? words.list.machine)}
        </p>
        <Problem refusal={save.refusal} />
        <button type="submit" className="primary" aria-disabled={save.busy}>
          {schedule ? words.save : text.schedule}
        </button>
      </form>
    </dialog>,
    document.body,
  );
}
