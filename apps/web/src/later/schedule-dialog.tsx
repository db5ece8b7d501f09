/** Makes or changes a message that repeats, on the page of later messages. */
import { useState } from 'react';
import type { Device, Schedule } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { Sheet } from '../ui/sheet.tsx';
import { RepeatForm } from './repeat-form.tsx';
import '../styles/later.css';

interface ScheduleDialogProps {
  /** Absent: a new one. */
  schedule?: Schedule;
  devices: readonly Device[];
  onSaved: () => void;
  onClose: () => void;
}

export function ScheduleDialog({ schedule, devices, onSaved, onClose }: ScheduleDialogProps) {
  const [message, setMessage] = useState(schedule?.message ?? '');
  const [deviceId, setDevice] = useState(schedule?.deviceId ?? devices[0]?.id);
  const device = devices.find((one) => one.id === deviceId) ?? devices[0];
  const [chosenAgent, setAgent] = useState(schedule?.agentType);
  const [projectPath, setPath] = useState(schedule?.projectPath ?? '');
  if (!device) return null;
  const text = words.later;
  const agents = device.agents ?? [];
  const ofSession = schedule?.sessionId !== undefined;
  const agentType = chosenAgent ?? device.agentType;
  return (
    <Sheet
      title={schedule ? text.changeSchedule : text.repeat}
      close={text.close}
      className="later-dialog"
      onClose={onClose}
    >
      <RepeatForm place={{ device, agentType, projectPath }} {...{ message, schedule, onSaved }}>
        <label>
          {text.message}
          <textarea rows={3} required value={message} onChange={({ target }) => setMessage(target.value)} />
        </label>
        {!schedule && (
          <label>
            {text.machine}
            <select
              value={device.id}
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
        {agents.length > 1 && !ofSession && (
          <label>
            {text.agent}
            <select value={agentType} onChange={({ target }) => setAgent(target.value)}>
              {agents.map((one) => (
                <option key={one.agentType} value={one.agentType}>
                  {nameOfAgent(one.agentType, device)}
                </option>
              ))}
            </select>
          </label>
        )}
        {!ofSession && (
          <label>
            {text.folder}
            <input type="text" value={projectPath} onChange={({ target }) => setPath(target.value)} />
          </label>
        )}
      </RepeatForm>
    </Sheet>
  );
}
