/** On a queued message: into the turn that runs; where the agent cannot take it, stop and send it. */
import type { Device, QueuedTask, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Square } from '../transcript/icons.tsx';
import { useAction } from '../ui/action.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Problem } from '../ui/notice.tsx';
import { Zap } from './icons.tsx';

interface SendNowProps {
  session: Session;
  task: QueuedTask;
  /** The first in line. */
  first: QueuedTask | undefined;
  device: Device | undefined;
}

export function SendNow({ session, task, first, device }: SendNowProps) {
  const { client } = useRooms();
  const { taskId } = task;
  const params = { id: session.id, taskId };
  const now = useAction(() => client.call('sendQueuedNow', { params }));
  const stop = useAction(async () => {
    if (first && first.taskId !== taskId) await client.call('changeQueued', { params, body: { before: first.taskId } });
    await client.call('cancelSession', { params: { id: session.id }, body: { which: 'running' } });
  });
  // Other daemons can continue after a cancel. An answer is delivered by itself.
  const { capabilities = [] } = device ?? {};
  const isFree = session.runningSince !== undefined && !session.prompt && task.kind === 'resume' && !task.answers;
  const wasRefused = isFree && task.into !== undefined;
  if (!isFree || !capabilities.includes('transcript')) return null;
  return (
    <>
      {capabilities.includes('steer') && !wasRefused ? (
        <IconButton
          icon={Zap}
          label={words.steer.chip(task.content.slice(0, 80))}
          title={words.steer.now}
          aria-disabled={now.busy}
          onClick={() => void now.run()}
        />
      ) : (
        <IconButton
          icon={Square}
          label={words.steer.stopThenSend}
          title={words.steer.stopThenSend}
          aria-disabled={stop.busy}
          onClick={() => void stop.run()}
        />
      )}
      {wasRefused && (
        <span className="soft" role="status">
          {words.steer.refused(nameOfAgent(session.agentType, device))}
        </span>
      )}
      <Problem refusal={now.refusal ?? stop.refusal} />
    </>
  );
}
