/** A lease as it is kept in Redis: `fence until instance lengths:fields`. */
import type { Lease } from '../backplane.ts';
import { part, readRecords } from './records.ts';

/** The part of a lease that scripts only pass on. */
export function leaseRest(device: string, connection: string): string {
  const { lengths, fields } = part(device, connection);
  return `${lengths}:${fields}`;
}

export function readLease(value: string): Lease {
  const [fence = '', until = '', instance = ''] = value.split(' ', 3);
  const rest = value.slice(fence.length + until.length + instance.length + 3);
  let [device, connection] = ['', ''];
  readRecords(`l${rest}`, (_, fields) => ([device = '', connection = ''] = fields));
  return { device, connection, fence: Number(fence), instance };
}
