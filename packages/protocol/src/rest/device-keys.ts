/** Registration keys, which register machines without a person (rules, 7.13). */
import { type Static, Type, count, id, limits, line, list, maybe, record, text, time } from '../schema.ts';

/** Keys of one person that have not expired. */
export const maxDeviceKeys = 20;
export const deviceKeyTtl = { min: 60, default: 600, max: 30 * 24 * 60 * 60 } as const;
export const deviceKeyUses = { default: 1, max: 1000 } as const;

const key = {
  id: id('Key id'),
  name: line('Purpose; empty if none was given'),
  uses: count('Number of machines that can register with it'),
  used: count('Number of machines that registered'),
  createdAt: time('Creation time'),
  expiresAt: time('Expiry'),
};

export const CreateDeviceKey = record('CreateDeviceKey', 'Create a registration key.', {
  ttlSeconds: maybe(
    Type.Integer({
      description: `Lifetime in seconds; default: ${deviceKeyTtl.default}`,
      minimum: deviceKeyTtl.min,
      maximum: deviceKeyTtl.max,
    }),
  ),
  uses: maybe(
    Type.Integer({
      description: `Number of machines that can register with it; default: ${deviceKeyUses.default}`,
      minimum: 1,
      maximum: deviceKeyUses.max,
    }),
  ),
  name: maybe(text('Purpose', { maxLength: limits.nameCharacters })),
});

export const CreatedDeviceKey = record('CreatedDeviceKey', 'The new key. Its secret is shown only once.', {
  ...key,
  key: line('The secret for `relay-daemon register --key`'),
});

export const DeviceKey = record('DeviceKey', 'A registration key, without its secret.', key);

export const DeviceKeyList = record(
  'DeviceKeyList',
  'Registration keys that have not expired, including used-up keys.',
  {
    keys: list(DeviceKey, 'Newest first', { maxItems: maxDeviceKeys }),
  },
);

export type CreateDeviceKey = Static<typeof CreateDeviceKey>;
export type DeviceKey = Static<typeof DeviceKey>;
export type CreatedDeviceKey = Static<typeof CreatedDeviceKey>;
