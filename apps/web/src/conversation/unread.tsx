/** Why the messages of a session could not be read from its machine. */
import type { Device, SessionDetail } from '@relay/protocol';
import { sentenceFor } from '../api/words.ts';
import { momentOf, words } from '../catalogue.ts';
import { WifiOff } from '../transcript/icons.tsx';
import { Note } from '../transcript/parts/small-parts.tsx';

interface UnreadProps {
  why: NonNullable<SessionDetail['messagesError']>;
  /** When the messages that are shown were read. */
  asOf: string | undefined;
  device: Device | undefined;
  onReload: () => void;
}

export const Unread = ({ why, asOf, device, onReload }: UnreadProps) => (
  <div role="status">
    <Note
      icon={<WifiOff className="i" aria-hidden />}
      end={
        <button type="button" className="small" onClick={onReload}>
          {words.retry}
        </button>
      }
    >
      {asOf !== undefined && <strong>{words.asOf(momentOf(asOf))} </strong>}
      {words.dock.unread(device?.name ?? words.list.machine)}{' '}
      {sentenceFor({ code: why.code, message: why.error, retryAfterSeconds: undefined })}
    </Note>
  </div>
);
