/** `/later`: the messages of all sessions whose time has not come, and messages that repeat. */
import { useState } from 'react';
import type { LaterList, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { LaterItem } from './item.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleItem } from './schedule-item.tsx';
import '../styles/later.css';

/** The session has messages with a time, had some, or is of a schedule. */
const isAbout = ({ id, later, scheduleId }: Session, tasks: LaterList['tasks']) =>
  later !== undefined || scheduleId !== undefined || tasks.some(({ sessionId }) => sessionId === id);

export function Later() {
  const { client } = useRooms();
  const [isOpen, setOpen] = useState(false);
  const found = useResource('', async () => {
    const [{ tasks, schedules = [] }, { devices }] = await Promise.all([
      client.call('listLater'),
      client.call('listDevices'),
    ]);
    return { tasks, schedules, devices };
  });
  const shown = found.kind === 'ready' ? found.value.tasks : [];
  // Also after changes on another page, and when a run begins or completes.
  useFrames((frame) => {
    if (frame.type === 'session_update' && !isAbout(frame.session, shown)) return;
    if (frame.type === 'later_changed' || frame.type === 'session_update') found.reload();
  });
  const { later } = words;
  return (
    <Page title={later.title} back={{ path: '/account', name: words.shell.settings }} lead={later.lead}>
      <Loaded of={found} what={later.loading}>
        {({ tasks, schedules, devices }) => (
          <>
            {tasks.length === 0 ? (
              <p role="status">{later.none}</p>
            ) : (
              <section className="later" aria-labelledby="once">
                <h2 id="once">{later.once}</h2>
                <ul className="later-list" aria-label={later.title}>
                  {tasks.map(({ sessionId, title, ...task }) => (
                    <LaterItem
                      key={task.taskId}
                      sessionId={sessionId}
                      title={title}
                      task={task}
                      onChanged={found.reload}
                    />
                  ))}
                </ul>
              </section>
            )}
            {devices.length > 0 && (
              <section className="later" aria-labelledby="repeating">
                <header>
                  <h2 id="repeating" className="grow">
                    {later.repeating}
                  </h2>
                  <button type="button" onClick={() => setOpen(true)}>
                    {later.repeat}
                  </button>
                </header>
                {schedules.length > 0 && (
                  <ul className="later-list" aria-label={later.repeating}>
                    {schedules.map((schedule) => (
                      <ScheduleItem key={schedule.id} schedule={schedule} devices={devices} onChanged={found.reload} />
                    ))}
                  </ul>
                )}
                <p className="fine">{later.nights}</p>
              </section>
            )}
            {isOpen && (
              <ScheduleDialog
                devices={devices}
                onSaved={() => {
                  setOpen(false);
                  found.reload();
                }}
                onClose={() => setOpen(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
