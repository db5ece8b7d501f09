/** Maps refusals of the relay and failed tasks to JSON-RPC errors. */
import { RequestError } from '@agentclientprotocol/sdk';
import { ClientError, RelayError, SignedOutError } from '@relay/client';
import { DEVICE_OFFLINE } from '@relay/protocol/sentences';

/** The cause, by a stable code for programs (docs/errors.md). */
interface ErrorData {
  code: string;
  status?: number;
  /** Seconds. */
  retryAfter?: number;
  /** When the usage limit resets (ISO 8601). */
  resetsAt?: string;
}

const internal = -32603;
const credential = -32000;
const notFound = -32002;
const params = -32602;

function numberOf({ code, status }: RelayError): number {
  if (status === 401) return credential;
  if (code === 'SESSION_NOT_FOUND') return notFound;
  return status === 400 || status === 413 ? params : internal;
}

export const acpError = (message: string, data: ErrorData, code = internal) => new RequestError(code, message, data);

/** Also replaces the sentence of older relays, which names a field of their API that no editor shows. */
const offline = `${DEVICE_OFFLINE} Prompts can wait for it: \`relay acp --queue 600\`, or \`?queue=600\` in the address of a remote agent.`;

/** Maps any failure to the error of a request. Errors from outside the relay get the code `UNEXPECTED` and keep their message. */
export function errorOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof RelayError) {
    const { code, status, retryAfter } = error;
    const message = code === 'DEVICE_OFFLINE' ? offline : error.message;
    return acpError(message, { code, status, ...(retryAfter === undefined ? {} : { retryAfter }) }, numberOf(error));
  }
  if (error instanceof SignedOutError) return acpError(error.message, { code: error.code, status: 401 }, credential);
  const message = error instanceof Error ? error.message : String(error);
  return acpError(message, { code: error instanceof ClientError ? error.code : 'UNEXPECTED' });
}

export const invalid = (message: string) => acpError(message, { code: 'INVALID_REQUEST', status: 400 }, params);

export const noSession = (acpId: string) =>
  acpError(`This device has no session ${acpId}.`, { code: 'SESSION_NOT_FOUND', status: 404 }, notFound);
