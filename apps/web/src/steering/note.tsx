/** The outcome of a message that was sent while the agent worked. */
import { useState } from 'react';
import type { Item } from '@relay/protocol';
import { taskSentence } from '../api/words.ts';
import { words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useLastSegment } from '../ui/address.ts';
import { agentName } from '../ui/agents.ts';
import { Problem } from '../ui/notice.tsx';
import { useSendingKey } from '../ui/sending.ts';
import { Zap } from './icons.tsx';

/** A session id names the agent in its second part. */
const agentIn = (sessionId: string) => agentName(sessionId.split(':')[1] ?? '');

function Dropped({ text }: { text: string }) {
  const id = useLastSegment();
  const { client } = useRooms();
  const key = useSendingKey();
  const send = useAction(async () => {
    await client.call('sendMessage', { params: { id }, body: { content: text }, idempotencyKey: key.of(text) });
  });
  return (
    <>
      {words.steer.dropped(agentIn(id))}
      {!send.done && (
        <button type="button" className="link" aria-disabled={send.busy} onClick={() => void send.run()}>
          {words.steer.sendIt}
        </button>
      )}
      <Problem refusal={send.refusal} />
    </>
  );
}

/** Shown until the item of the message is here, or its delivery is unknown. */
function Sending({ task }: { task: unknown }) {
  const [isUnknown, setUnknown] = useState(false);
  const [isOver, setOver] = useState(false);
  useFrames((frame) => {
    if (frame.type !== 'session_update') return;
    const { lastTask, queue, runningSince } = frame.session;
    if (lastTask?.id === task && lastTask?.state === 'unknown') setUnknown(true);
    // It was cancelled with its turn.
    if (task !== undefined) setOver(!queue && runningSince === undefined);
  });
  if (isOver && !isUnknown) return null;
  return (
    <span role="status">
      {isUnknown ? (
        taskSentence('DELIVERY_UNKNOWN')
      ) : (
        <>
          {words.steer.sending} <span className="spinner" aria-hidden />
        </>
      )}
    </span>
  );
}

export function SteerNote({ part, text }: { part: Item['part']; text: string }) {
  switch (part['steer']) {
    case 'sending':
      return <Sending task={part['task']} />;
    case 'now':
      return (
        <span>
          {words.steer.sent} <Zap className="i" aria-hidden />
        </span>
      );
    case 'next':
      return <span>{words.steer.next}</span>;
    case 'dropped':
      return <Dropped text={text} />;
    default:
      return null;
  }
}
