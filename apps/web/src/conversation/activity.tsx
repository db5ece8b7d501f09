/** What goes on in a session right now, and what a person can do about it. */
import { useEffect, useState } from 'react';
import type { Device, Session } from '@relay/protocol';
import { taskSentence } from '../api/words.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Notice, Problem } from '../ui/notice.tsx';
import { Waiting } from '../ui/waiting.tsx';

/** Since when this has been so, as far as this page knows. */
function useSince(what: string): number {
  const [since, setSince] = useState({ what, ms: Date.now() });
  useEffect(() => {
    setSince((now) => (now.what === what ? now : { what, ms: Date.now() }));
  }, [what]);
  return since.ms;
}

const unfinished = new Set(['queued', 'sent', 'running']);

function doing(session: Session, device: Device | undefined): string | undefined {
  const { lastTask, progress } = session;
  if (!lastTask || !unfinished.has(lastTask.state))
    return session.status === 'active' ? 'The agent works …' : undefined;
  if (lastTask.state === 'queued')
    return device?.status === 'offline' ? `Waiting for ${device.name} to come online …` : 'Waiting for its turn …';
  if (lastTask.state === 'sent') return 'Handing it to the agent …';
  if (!progress) return 'The agent works …';
  return progress.target === '' ? `${progress.action} …` : `${progress.action}: ${progress.target}`;
}

export function Activity({
  session,
  device,
  output,
}: {
  session: Session;
  device: Device | undefined;
  output: string;
}) {
  const { client } = useRooms();
  const what = doing(session, device);
  const sinceMs = useSince(`${session.lastTask?.id ?? ''} ${session.lastTask?.state ?? ''}`);
  const cancel = useAction(() => client.call('cancelSession', { params: { id: session.id } }));
  const code = session.lastTask?.code;
  return (
    <div className="activity">
      {output !== '' && (
        <details open={what !== undefined}>
          <summary>Output</summary>
          <pre tabIndex={0} role="region" aria-label="Output of the agent">
            {output}
          </pre>
        </details>
      )}
      {what !== undefined && (
        <div className="now">
          <Waiting what={what} sinceMs={sinceMs} />
          <button type="button" aria-disabled={cancel.busy} onClick={() => void cancel.run()}>
            {cancel.busy ? 'Cancelling …' : 'Cancel'}
          </button>
        </div>
      )}
      {what === undefined && session.status === 'waiting' && (
        <div className="now">
          <button type="button" aria-disabled={cancel.busy} onClick={() => void cancel.run()}>
            {cancel.busy ? 'Dismissing …' : 'Dismiss the question'}
          </button>
        </div>
      )}
      <Problem refusal={cancel.refusal} />
      {what === undefined && session.status === 'failed' && (
        <Notice kind="bad">{taskSentence(code ?? 'AGENT_ERROR')}</Notice>
      )}
      {what === undefined && session.lastTask?.state === 'cancelled' && <Notice>You cancelled this.</Notice>}
      {device?.status === 'offline' && what === undefined && (
        <Notice>
          {device.name} is offline. What you send waits for it, a quarter of an hour at most; start its daemon:{' '}
          <code>npx relay-daemon run</code>
        </Notice>
      )}
    </div>
  );
}
