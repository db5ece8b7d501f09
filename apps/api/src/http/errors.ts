/** Anything that was thrown → the error of the contract. Unexpected errors say nothing to strangers and everything to the log. */
import { AuthError } from '@relay/auth';
import { BackplaneError } from '@relay/backplane';
import { isUnavailable } from '@relay/database';
import { HandshakeError } from '@relay/socket';
import { RelayError } from '@relay/protocol';

const challenge = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };

export function toRelayError(error: unknown): RelayError {
  if (error instanceof RelayError) return error;
  if (error instanceof AuthError) {
    return error.code === 'SERVICE_UNAVAILABLE'
      ? new RelayError('SERVICE_UNAVAILABLE', error.message, { cause: error, retryAfter: 5 })
      : new RelayError(error.code, error.message, { cause: error, headers: challenge });
  }
  if (error instanceof BackplaneError || isUnavailable(error)) {
    return new RelayError('SERVICE_UNAVAILABLE', 'The relay cannot do this right now. Try again in a few seconds.', {
      cause: error,
      retryAfter: 5,
    });
  }
  if (error instanceof HandshakeError)
    return new RelayError('INVALID_REQUEST', `This is no WebSocket handshake: ${error.message}.`);
  const bodyError = fromBodyParser(error);
  return (
    bodyError ??
    new RelayError('INTERNAL_ERROR', 'The relay failed. Try again, and report the X-Request-Id if it happens again.', {
      cause: error,
    })
  );
}

/** Errors of the body parser carry a `type` (body-parser's documentation). */
function fromBodyParser(error: unknown): RelayError | undefined {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new RelayError('PAYLOAD_TOO_LARGE', 'The body exceeds 1 MiB.');
  if (type === 'encoding.unsupported')
    return new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Use no Content-Encoding, or gzip, deflate or br.');
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return new RelayError('INVALID_REQUEST', 'The body did not arrive completely.');
  if (error instanceof URIError) return new RelayError('INVALID_REQUEST', 'The path is not correctly percent-encoded.');
  return undefined;
}
