/** The form of a message that repeats: new, or changed. */
import { type ReactNode, useEffect, useState } from 'react';
import type { Device, MessageSetting, Schedule, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting } from '../ui/action.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { Problem } from '../ui/notice.tsx';
import { PasswordAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { RepeatSettings } from './repeat-settings.tsx';
import { cronOf, formOf, newForm } from './rule.ts';
import { RuleFields } from './rule-fields.tsx';
import { ruleOf, timeIn } from './schedule-words.ts';
import { zoneHere } from './times.ts';
import { ZoneField } from './zone-field.tsx';

/** Where the runs work. `session`: each run can continue it. */
export interface RunPlace {
  device: Device;
  agentType: string;
  projectPath: string;
  session?: Session;
}

interface RepeatFormProps {
  place: RunPlace;
  message: string;
  /** The schedule that is changed; absent: a new one. */
  schedule?: Schedule | undefined;
  onSaved: () => void;
  /** Fields of the message and its place; absent: they are chosen already. */
  children?: ReactNode;
}

const twoHours = 7200;
const typedMs = 400;

/** The next times of a rule, as the relay computes them. Nothing for a rule that it refuses. */
function NextTimes({ cron, zone }: { cron: string; zone: string }) {
  const { client } = useRooms();
  const [rule, setRule] = useState({ cron, zone });
  useEffect(() => {
    const timer = setTimeout(() => setRule({ cron, zone }), typedMs);
    return () => clearTimeout(timer);
  }, [cron, zone]);
  const found = useResource(`${rule.cron} ${rule.zone}`, () => client.call('previewSchedule', { query: rule }));
  if (found.kind !== 'ready') return null;
  return (
    <div className="next">
      <p className="lab">{words.later.next}</p>
      <ul>
        {found.value.next.map((at) => (
          <li key={at}>{timeIn(rule.zone, at)}</li>
        ))}
      </ul>
    </div>
  );
}

export function RepeatForm({ place, message, schedule, onSaved, children }: RepeatFormProps) {
  const { client } = useRooms();
  const { device, agentType, projectPath, session } = place;
  const [form, setForm] = useState(schedule ? formOf(schedule.cron) : newForm);
  const [zone, setZone] = useState(schedule?.zone ?? zoneHere());
  const [isSame, setSame] = useState(false);
  const [waitSeconds, setWait] = useState(schedule?.waitSeconds ?? twoHours);
  const ofAgent = `${device.id} ${agentType}`;
  /** Settings of one agent. */
  const [choice, setChoice] = useState<{ of: string; settings: readonly MessageSetting[]; dangerous: boolean }>();
  const isOther = schedule !== undefined && schedule.agentType !== agentType;
  const before = (!isOther && schedule?.settings) || [];
  const chosen = choice?.of === ofAgent ? choice : undefined;
  const cron = cronOf(form);
  const save = useRecentAction(async () => {
    const body = {
      ...{ message, cron, zone, waitSeconds },
      ...((chosen || isOther) && { settings: [...(chosen?.settings ?? [])], dangerous: chosen?.dangerous === true }),
      ...(session && isSame ? {} : { projectPath }),
    };
    const sessionId = session && isSame ? { sessionId: session.id } : { agentType };
    if (!schedule) await client.call('createSchedule', { body: { deviceId: device.id, ...body, ...sessionId } });
    else {
      const other = isOther ? { agentType } : {};
      await client.call('changeSchedule', { params: { id: schedule.id }, body: { ...body, ...other } });
    }
    onSaved();
  });
  const text = words.later;
  const waits = waitSeconds > 0 ? waitSeconds : twoHours;
  const wait = (seconds: number, name: string) => (
    <button type="button" aria-pressed={waitSeconds === seconds} onClick={() => setWait(seconds)}>
      {name}
    </button>
  );
  const each = (value: boolean, name: string, more: string) => (
    <label className="opt">
      <input type="radio" name="each" checked={isSame === value} onChange={() => setSame(value)} />
      <span>
        <b>{name}</b>
        <span>{more}</span>
      </span>
    </label>
  );
  const hasControls = device.capabilities.includes('controls');
  return (
    <form onSubmit={submitting(() => void save.run())}>
      {children ?? (
        <p className="fine">
          {[device.name, nameOfAgent(agentType, device), projectPath].filter((part) => part !== '').join(' · ')}
        </p>
      )}
      <RuleFields form={form} onChange={(changed) => setForm({ ...form, ...changed })} />
      <ZoneField zone={zone} onZone={setZone} />
      {session && (
        <fieldset>
          <legend>{text.eachTime}</legend>
          {each(false, text.newSession, text.newSessionMore)}
          {each(true, text.sameSession, text.sameSessionMore)}
        </fieldset>
      )}
      <fieldset>
        <legend>{text.ifOffline(device.name)}</legend>
        <div className="seg">
          {wait(waits, text.waitFor(waits / 3600))}
          {wait(0, text.skip)}
        </div>
      </fieldset>
      {hasControls && (
        <RepeatSettings
          key={ofAgent}
          {...{ device, agentType }}
          rule={ruleOf(cron)}
          chosen={chosen?.settings ?? before}
          onChosen={(settings, dangerous) => setChoice({ of: ofAgent, settings, dangerous })}
        />
      )}
      <NextTimes cron={cron} zone={zone} />
      <p className="fine">
        {text.asAlways} {!hasControls ? text.decides(device.name) : !chosen?.dangerous && text.asks}
      </p>
      {save.again && <PasswordAgain {...save} />}
      <Problem refusal={save.refusal} />
      <button type="submit" className="primary" aria-disabled={save.busy}>
        {schedule ? words.save : text.schedule}
      </button>
    </form>
  );
}
