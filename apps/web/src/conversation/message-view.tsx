/** One message. Text stays text; what stands between fences is shown as it is written. */
import { memo } from 'react';
import type { Message } from '@relay/protocol';
import { Ago } from '../ui/time.tsx';
import { partsOf } from './parts.ts';

const speakers: Readonly<Record<Message['role'], string>> = { USER: 'You', AGENT: 'Agent', SYSTEM: 'Relay' };

export const MessageView = memo(function MessageView({ message }: { message: Message }) {
  const speaker = speakers[message.role] ?? message.role;
  return (
    <article className={`message ${message.role.toLowerCase()}`} aria-label={speaker}>
      <p className="message-head">
        <span>{speaker}</span> <Ago at={message.timestamp} />
      </p>
      {partsOf(message.content).map((part, index) =>
        part.isCode ? (
          <pre key={index} tabIndex={0} role="region" aria-label="Code">
            <code>{part.text}</code>
          </pre>
        ) : (
          <p key={index} className="words">
            {part.text}
          </p>
        ),
      )}
      {message.truncated && <p className="hint">The rest was cut off. All of it is on the machine.</p>}
    </article>
  );
});
