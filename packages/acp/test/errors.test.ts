import { describe, expect, it } from '@jest/globals';
import { RelayError } from '@relay/client';
import { errorOf } from '../src/errors.ts';

describe('A10: a prompt to an offline machine', () => {
  it('fails with the option of this command, not with a field of the API', () => {
    const message = 'The device is not connected. Send without "queueTtlSeconds": 0 to let the message wait.';
    const refused = { retryAfter: undefined, details: {}, headers: new Headers() };
    const error = errorOf(new RelayError({ ...refused, code: 'DEVICE_OFFLINE', status: 409, message }));
    expect(error).toMatchObject({ message: expect.stringContaining('--queue 600'), data: { code: 'DEVICE_OFFLINE' } });
    expect(error.message).not.toContain('queueTtlSeconds');
  });
});
