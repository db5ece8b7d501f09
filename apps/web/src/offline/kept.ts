/**
 * Whether this browser stores the last pages read, for use without the relay (rules, 14.44). The rest of it is a chunk of its
 * own.
 */
import { keepStored, keepsName, readStored } from '../forget.ts';

/** On, unless the person turned it off. */
export const keepsLast = (): boolean => readStored(keepsName) !== 'off';

export const chooseLast = (on: boolean): void => keepStored(keepsName, on ? null : 'off');

export const loadLast = () => import('./last.ts');
