import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
/** The catalogue of errors and the table of close codes, against a list written by hand. */
import { describe, expect, it } from '@jest/globals';
import type { ErrorText } from '../src/errors/row.ts';
import {
  closeCodes,
  errorCatalogue,
  type ErrorCode,
  pollErrors,
  RelayError,
  routes,
  type Route,
  taskErrors,
} from '../src/index.ts';

const duplicates = (values: readonly unknown[]) => values.filter((value, index) => values.indexOf(value) !== index);

describe('the error catalogue', () => {
  const listed: Record<number, string> = {
    400: 'INVALID_REQUEST INVALID_IMAGE INVALID_ANSWER INVALID_SETTING ADDRESS_NOT_ALLOWED INVALID_FILE INVALID_SCHEDULE SCHEDULE_TOO_OFTEN',
    401: 'UNAUTHORIZED INVALID_TOKEN TOKEN_EXPIRED TOKEN_REVOKED',
    403: 'FORBIDDEN INSUFFICIENT_SCOPE DEVICE_TOKEN_NOT_ALLOWED SIGN_IN_NOT_RECENT AGENT_CHAIN_TOO_DEEP PERSON_MUST_ANSWER FILE_HIDDEN KEY_NOT_VALID ORIGIN_NOT_ALLOWED SETTING_NOT_ALLOWED',
    404: 'NOT_FOUND SESSION_NOT_FOUND DEVICE_NOT_FOUND TASK_NOT_FOUND PROMPT_NOT_FOUND CONTENT_NOT_FOUND FILE_NOT_FOUND FOLDER_NOT_FOUND CODE_NOT_FOUND KEY_NOT_FOUND TOKEN_NOT_FOUND SUBSCRIPTION_NOT_FOUND DELIVERY_NOT_FOUND ITEM_NOT_FOUND SCHEDULE_NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    408: 'REQUEST_TIMEOUT',
    409: 'ITEM_NEEDS_ANSWER NO_RUNNING_TASK TASK_ALREADY_SENT TASK_ALREADY_ENDED TASK_NOT_CHANGEABLE QUEUE_FULL FILE_INCOMPLETE DEVICE_FULL TOO_MANY_SCHEDULES TOO_MANY_LATER TOO_MANY_DEVICES TOO_MANY_KEYS TOO_MANY_TOKENS TOO_MANY_INVITATIONS TOO_MANY_SUBSCRIPTIONS SUBSCRIPTION_TAKEN KIND_NOT_CONFIGURED TOO_MANY_WATCHED TOO_MANY_SESSIONS SCOPE_NOT_AVAILABLE NOT_SUPPORTED_BY_DEVICE AGENT_NOT_OFFERED SETTINGS_NOT_SUPPORTED SESSION_NOT_RESOLVED PROMPT_ALREADY_ANSWERED PROMPT_SUPERSEDED AGENT_ASKS PROMPT_REFERENCE_REQUIRED IDEMPOTENCY_CONFLICT CODE_ALREADY_USED',
    413: 'CHANGES_TOO_LARGE PAYLOAD_TOO_LARGE FILE_TOO_LARGE',
    415: 'UNSUPPORTED_MEDIA_TYPE',
    426: 'UPGRADE_REQUIRED',
    429: 'TOO_MANY_CONNECTIONS TOO_MANY_AGENT_TURNS RATE_LIMITED',
    500: 'INTERNAL_ERROR',
    502: 'DEVICE_ERROR',
    503: 'DEVICE_OFFLINE GATEWAY_FULL SERVICE_UNAVAILABLE',
    504: 'DEVICE_TIMEOUT',
  };

  it('holds the listed codes under their statuses, and no other', () => {
    const byStatus: Record<number, string[]> = {};
    for (const [code, { status }] of Object.entries(errorCatalogue)) (byStatus[status] ??= []).push(code);
    const expected = Object.entries(listed).map(([status, codes]) => [status, codes.split(' ')]);
    expect(byStatus).toEqual(Object.fromEntries(expected));
  });

  it('holds every code that a route names', () => {
    const named = Object.values<Route>(routes).flatMap(({ errors }) => errors);
    expect(named.filter((code) => !(code in errorCatalogue))).toEqual([]);
  });

  it('has a sentence for people per code, which no other code has', () => {
    const sentences = [errorCatalogue, taskErrors]
      .flatMap((rows) => Object.values<ErrorText>(rows))
      .map(({ sentence }) => sentence);
    expect(duplicates(sentences)).toEqual([]);
    expect(sentences.filter((sentence) => !/^[A-Z][^`]*\.$/.test(sentence))).toEqual([]);
  });

  it('keeps the strings of RFC 8628 and RFC 6749 verbatim', () => {
    expect(Object.keys(pollErrors).sort()).toEqual(
      ['access_denied', 'authorization_pending', 'expired_token', 'invalid_grant', 'slow_down'].sort(),
    );
  });
});

describe('a RelayError', () => {
  it('has the status and the sentence of the catalogue for every code', () => {
    const codes = Object.keys(errorCatalogue) as ErrorCode[];
    expect(codes.map((code) => new RelayError(code).body)).toEqual(
      codes.map((code) => ({ error: errorCatalogue[code].sentence, code, status: errorCatalogue[code].status })),
    );
  });

  it('has a detail instead of the sentence, only where the row of the code allows it', () => {
    expect(new RelayError('QUEUE_FULL', 'Three messages wait.').message).toBe('Three messages wait.');
    // @ts-expect-error This code takes no detail.
    expect(new RelayError('DEVICE_OFFLINE', 'Gone.').code).toBe('DEVICE_OFFLINE');
  });

  it('carries its cause, its headers and when to retry', () => {
    const cause = new Error('down');
    const error = new RelayError('SERVICE_UNAVAILABLE', 'Later.', { cause, retryAfter: 5, headers: { Allow: 'GET' } });
    expect(error).toBeInstanceOf(Error);
    expect(error.cause).toBe(cause);
    expect(error.headers).toEqual({ Allow: 'GET' });
    expect(error.body).toEqual({ error: 'Later.', code: 'SERVICE_UNAVAILABLE', status: 503, retryAfter: 5 });
  });
});

describe('the close codes', () => {
  it('are the listed ones, each once', () => {
    const codes = Object.values(closeCodes).map(({ code }) => code);
    expect(duplicates(codes)).toEqual([]);
    expect([...codes].sort()).toEqual(
      [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 1013, 4400, 4401, 4403, 4404, 4408, 4409, 4426, 4429].sort(),
    );
  });

  it('include every code that the relay sends, from any file', () => {
    const sources = ['packages/socket/src', 'apps/api/src', 'apps/gateway/src'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    );
    const sent = sources.flatMap((text) => [
      ...text.matchAll(/(?:code: |protocolError = |_[A-Z0-9]+', )((?:10|44)\d\d)\b/g),
    ]);
    expect(sent.length).toBeGreaterThan(3);
    const known: ReadonlySet<number> = new Set(Object.values(closeCodes).map(({ code }) => code));
    for (const [, code] of sent) expect(known).toContain(Number(code));
  });

  it('have reasons that fit into a close frame, each once', () => {
    const reasons = Object.values(closeCodes).map(({ reason }) => reason);
    expect(duplicates(reasons)).toEqual([]);
    for (const reason of reasons) expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
  });

  it('stop a peer from reconnecting when its credential, its permission or its place is gone', () => {
    const final = Object.values(closeCodes).filter(({ comeBack }) => !comeBack);
    expect(final.map(({ code }) => code)).toEqual([4401, 4403, 4404, 4409, 4426]);
  });
});
