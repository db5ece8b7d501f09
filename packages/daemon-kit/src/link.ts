/** The relay as peer of the connection: its capabilities, and the frames to it. */
import { relayCapabilities, type FromDaemonFrame } from '@relay/protocol';
import type { TranscriptSettings } from './transcript/transcripts.ts';

export interface Link {
  /** A connection to a relay with these capabilities. */
  declare: (capabilities: ReadonlySet<string>) => void;
  isDeclared: (capability: string) => boolean;
  sendsTranscript: () => boolean;
  sendsPrompts: () => boolean;
  /** `hot`: the frame can be dropped when the connection is slow. Returns whether it was sent. */
  send: (frame: FromDaemonFrame, hot?: boolean) => boolean;
}

export function createLink(
  { detail }: TranscriptSettings,
  write: (frame: FromDaemonFrame, hot: boolean) => boolean,
): Link {
  let declared: ReadonlySet<string> = new Set();
  const isDeclared = (capability: string) => declared.has(capability);
  const sendsTranscript = () => detail !== 'off' && isDeclared(relayCapabilities.transcript);
  return {
    declare: (now) => (declared = now),
    isDeclared,
    sendsTranscript,
    sendsPrompts: () => sendsTranscript() && isDeclared(relayCapabilities.prompts),
    send: (frame, hot = false) => write(frame, hot),
  };
}
