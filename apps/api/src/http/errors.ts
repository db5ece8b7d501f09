/**
 * Turns any thrown value into an error of the catalogue (rules, 6.2). The log has the details of unexpected errors; strangers see
 * no details.
 */
import { AuthError } from '@relay/auth';
import { BackplaneError } from '@relay/backplane';
import { isUnavailable } from '@relay/database';
import { HandshakeError } from '@relay/socket';
import { RelayError } from '@relay/protocol';

const challenge = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
/** Seconds, when no better value is known. */
const retryAfter = 5;

export function toRelayError(error: unknown): RelayError {
  if (error instanceof RelayError) return error;
  if (error instanceof AuthError) {
    return error.code === 'SERVICE_UNAVAILABLE'
      ? new RelayError('SERVICE_UNAVAILABLE', error.message, {
          cause: error,
          retryAfter: error.retryAfterSeconds ?? retryAfter,
        })
      : new RelayError(error.code, error.message, { cause: error, headers: challenge });
  }
  if (error instanceof BackplaneError || isUnavailable(error)) {
    return new RelayError('SERVICE_UNAVAILABLE', { cause: error, retryAfter });
  }
  if (error instanceof HandshakeError)
    return new RelayError('INVALID_REQUEST', `This is no WebSocket handshake: ${error.message}.`);
  // The router throws this when it reads the parameters of a path.
  if (error instanceof URIError) return new RelayError('INVALID_REQUEST', 'The path is not correctly percent-encoded.');
  return new RelayError('INTERNAL_ERROR', { cause: error });
}

/** An error of the relay itself, and not of a device or a caller: worth an entry in the log. */
export const isRelayFault = ({ status, code, cause }: RelayError): boolean =>
  status >= 500 &&
  code !== 'DEVICE_OFFLINE' &&
  code !== 'DEVICE_TIMEOUT' &&
  code !== 'DEVICE_ERROR' &&
  // A credential that names a key which is not known here: nothing failed.
  !(cause instanceof AuthError && cause.cause === undefined);
