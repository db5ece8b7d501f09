/** Registration keys, which register machines without a person (rules, 7.13). */
import { type Static, Type, count, id, limits, line, list, maybe, record, text, time } from '../schema.ts';

/** Keys of one person that have not expired. */
export const maxDeviceKeys = 20;
export const deviceKeyTtl = { min: 60, default: 600, max: 30 * 24 * 60 * 60 } as const;
export const deviceKeyUses = { default: 1, max: 1000 } as const;

const key = {
  id: id('Key id'),
  name: line('What it is for; empty if nothing was said'),
  uses: count('How many machines may register with it'),
  used: count('How many have'),
  createdAt: time('When it was made'),
  expiresAt: time('Until when it is valid'),
};

export const CreateDeviceKey = record('CreateDeviceKey', 'Make a registration key.', {
  ttlSeconds: maybe(
    Type.Integer({
      description: `How long it is valid; ${deviceKeyTtl.default} if absent`,
      minimum: deviceKeyTtl.min,
      maximum: deviceKeyTtl.max,
    }),
  ),
  uses: maybe(
    Type.Integer({
      description: `How many machines may register with it; ${deviceKeyUses.default} if absent`,
      minimum: 1,
      maximum: deviceKeyUses.max,
    }),
  ),
  name: maybe(text('What it is for', { maxLength: limits.nameCharacters })),
});

export const CreatedDeviceKey = record('CreatedDeviceKey', 'The key, which is shown once.', {
  ...key,
  key: line('The secret: `relay-daemon register --key`'),
});

export const DeviceKey = record('DeviceKey', 'A registration key, without its secret.', key);

export const DeviceKeyList = record(
  'DeviceKeyList',
  'Registration keys that have not expired, used-up ones included.',
  {
    keys: list(DeviceKey, 'Newest first', { maxItems: maxDeviceKeys }),
  },
);

export type CreateDeviceKey = Static<typeof CreateDeviceKey>;
export type DeviceKey = Static<typeof DeviceKey>;
export type CreatedDeviceKey = Static<typeof CreatedDeviceKey>;
