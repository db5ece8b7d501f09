/** The current activity of a session in one line, and the reason when it cannot continue. */
import { useEffect, useState } from 'react';
import { TriangleAlert, WifiOff } from '../transcript/icons.tsx';
import type { Device, Session } from '@relay/protocol';
import { taskSentence } from '../api/words.ts';
import { words } from '../catalogue.ts';
import { agentName } from '../ui/agents.ts';
import { type LogItem, isGrowing } from '../transcript/items.ts';
import { Elapsed } from '../transcript/parts/elapsed.tsx';
import { toolOf } from '../transcript/parts/shape.ts';
import { Note } from '../transcript/parts/small-parts.tsx';
import { nowOf } from '../transcript/parts/tool-state.ts';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { doingNow } from '../ui/doing.ts';
import { WorkingSign } from '../ui/mark.tsx';
import { Sentence } from '../ui/sentence.tsx';

/** The start of this state: from the relay, else from this page. */
function useSince(what: string, relayMs: number): number {
  const [since, setSince] = useState({ what, ms: Date.now() });
  useEffect(() => {
    setSince((now) => (now.what === what ? now : { what, ms: Date.now() }));
  }, [what]);
  return relayMs <= Date.now() ? relayMs : since.ms;
}

const unfinished = new Set(['queued', 'sent', 'running']);

export const isWorking = ({ lastTask, status }: Session): boolean =>
  (lastTask !== undefined && unfinished.has(lastTask.state)) || status === 'active';

/** The part of an agent's work that is open now, or undefined between two of them. */
function openWork(items: readonly LogItem[]): string | undefined {
  let waiting: string | undefined;
  for (const item of items.toReversed()) {
    const { kind, status } = item.part;
    if (kind === 'tool' && (status === 'pending' || status === 'running')) {
      const tool = toolOf(item.part);
      if (status === 'running' && (!tool.asked || tool.asked.answer)) return nowOf(tool);
      if (!tool.asked || tool.asked.answer) waiting ??= nowOf(tool);
    }
    if (isGrowing(item) && item.part.kind === 'text') return words.doing.Writing;
    if (isGrowing(item) && item.part.kind === 'thought') return words.doing.Thinking;
  }
  return waiting;
}

export function doing(session: Session, device: Device | undefined, items: readonly LogItem[]): string | undefined {
  const { lastTask, progress } = session;
  if (!isWorking(session)) return undefined;
  // The last task can wait while another one runs.
  const isRunning = session.runningSince !== undefined || lastTask?.state === 'running';
  if (lastTask?.state === 'queued' && !isRunning)
    return device?.status === 'offline' ? words.list.waitingFor(device.name) : words.dock.queued;
  if (lastTask?.state === 'sent') return words.dock.sending(agentName(session.agentType));
  const open = openWork(items);
  if (open !== undefined) return open;
  // Items show that a call has settled; the last progress does not.
  const isOver =
    progress && Object.hasOwn(words.doing, progress.action) && items.some(({ part }) => part.kind === 'tool');
  if (!isRunning || !progress || isOver) return words.list.state.active;
  return doingNow(progress);
}

interface ActivityProps {
  session: Session;
  /** The time of the message that the agent works on. */
  sentAt: string | undefined;
  device: Device | undefined;
  items: readonly LogItem[];
  /** The log already shows that the agent failed. */
  isErrorShown: boolean;
}

export function Activity({ session, sentAt, device, items, isErrorShown }: ActivityProps) {
  const what = doing(session, device, items);
  const sinceMs = useSince(
    `${session.lastTask?.id ?? ''} ${session.lastTask?.state ?? ''}`,
    Date.parse(session.runningSince ?? sentAt ?? ''),
  );
  const code = session.lastTask?.code;
  if (what !== undefined)
    return (
      // This line changes with each call. The log announces finished items alone.
      <p className="now-line" role={session.runningSince ? undefined : 'status'}>
        <WorkingSign />
        <span className="cut">{what}</span>
        <Elapsed since={sinceMs} />
      </p>
    );
  return (
    <>
      {session.status === 'failed' && !isErrorShown && !session.limit && (
        <div role="alert">
          <Note kind="bad" icon={<TriangleAlert className="i" aria-hidden />}>
            {taskSentence(code ?? 'AGENT_ERROR')}
          </Note>
        </div>
      )}
      {device?.status === 'offline' && (
        <div role="status">
          <Note icon={<WifiOff className="i" aria-hidden />}>
            <Sentence
              text={words.dock.offline}
              machine={<strong>{device.name}</strong>}
              command={<code>{daemonCommands.start}</code>}
            />
          </Note>
        </div>
      )}
    </>
  );
}
