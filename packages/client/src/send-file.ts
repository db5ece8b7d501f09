/** Sends a file to a device in pieces, and continues where it stopped (rules, 27.1). */
import type { FileState } from '@relay/protocol';
import type { Client } from './client.ts';
import { ClientError, NetworkError, RelayError, TimeoutError } from './errors.ts';
import { pause } from './pause.ts';

export interface OutgoingFile {
  /** An id from `newFileId`, which the draft keeps: the device recognises the file by it. */
  id: string;
  name: string;
  size: number;
  /** A hint. */
  mime?: string | undefined;
  /** Reads this many bytes from the offset on. */
  read: (offset: number, length: number) => Promise<Uint8Array>;
}

interface SendFileOptions {
  signal?: AbortSignal;
  /** After each piece: bytes that the device has. */
  onProgress?: (received: number) => void;
  /** How long transient failures without a received byte are retried. Default: a minute. */
  patienceMs?: number;
}

const pieceBytes = 1024 * 1024;
const pauseMs = 1000;
const longestPauseMs = 10_000;
/** Codes of passing failures, beside failures of the network. */
const passing = new Set(['SERVICE_UNAVAILABLE', 'RATE_LIMITED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'BAD_ANSWER']);
/** The device erased the file, or has another part of it than this program knows. */
const begunAgain = new Set(['FILE_NOT_FOUND', 'FILE_INCOMPLETE']);

/**
 * Resolves when the device has the whole file. Several programs can send the same file with one id.
 * @throws RelayError, NetworkError, TimeoutError, BadAnswerError; the reason of `signal`
 */
export async function sendFile(
  client: Pick<Client, 'call'>,
  deviceId: string,
  { id: fileId, name, size, mime, read }: OutgoingFile,
  { signal, onProgress, patienceMs = 60_000 }: SendFileOptions = {},
): Promise<FileState> {
  const more = signal === undefined ? {} : { signal };
  let state: FileState | undefined;
  let deadline = Date.now() + patienceMs;
  for (let failures = 0; ;) {
    try {
      state ??= await client.call('sendFile', {
        params: { id: deviceId },
        body: { fileId, name, size, ...(mime ? { mime } : {}) },
        ...more,
      });
      onProgress?.(state.received);
      if (state.done) return state;
      const { received } = state;
      if (received >= size) throw tooLong();
      const body = await read(received, Math.min(pieceBytes, size - received));
      const query = { offset: received };
      state = await client.call('sendPiece', { params: { id: deviceId, fileId }, query, body, ...more });
      if (!state.done && state.received <= received) throw new TimeoutError('The device took nothing of the piece.');
      deadline = Date.now() + patienceMs;
      failures = 0;
    } catch (error) {
      const again = error instanceof RelayError && begunAgain.has(error.code);
      if ((!again && !isPassing(error)) || Date.now() > deadline) throw error;
      state = undefined;
      failures += 1;
      const retryAfterMs = error instanceof RelayError ? (error.retryAfter ?? 0) * 1000 : 0;
      if (!again || failures > 1)
        await pause(Math.min(longestPauseMs, Math.max(retryAfterMs, failures * pauseMs)), signal);
      signal?.throwIfAborted();
    }
  }
}

/** The device counts more bytes than the file has. */
const tooLong = () =>
  new RelayError({
    code: 'INVALID_FILE',
    message: 'The machine has another file under this id.',
    status: 400,
    retryAfter: undefined,
    details: {},
    headers: new Headers(),
  });

const isPassing = (error: unknown): boolean =>
  error instanceof NetworkError ||
  error instanceof TimeoutError ||
  (error instanceof ClientError && passing.has(error.code));

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID for a new file. */
export function newFileId(): string {
  let time = '';
  for (let rest = Date.now(); time.length < 10; rest = Math.floor(rest / 32)) time = alphabet[rest % 32]! + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => alphabet[byte % 32]).join('');
}
