/** The present work of an agent, in the language of the pages where its daemon uses a word that is known. */
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';

export function doingNow({ action, target }: NonNullable<Session['progress']>): string {
  const label = new Map(Object.entries(words.doing)).get(action) ?? action;
  return target === '' ? label : `${label} ${target}`;
}
