/** Where a person was: the place in each log of this tab, and up to where each session was read on this machine. */
import { keepStored, readStored } from '../forget.ts';
import type { VirtualItem } from '@tanstack/react-virtual';

export interface ScrollPlace {
  /** Heights that were measured. */
  sizes: VirtualItem[];
  /** Row at the top of the view. */
  key: string;
  /** How far its top is above the view, in pixels. */
  above: number;
}

const places = new Map<string, ScrollPlace>();
const placesKept = 100;

/** Undefined: at the bottom. */
export const placeOf = (session: string): ScrollPlace | undefined => places.get(session);
export function keepPlace(session: string, place: ScrollPlace | undefined): void {
  places.delete(session);
  if (place) places.set(session, place);
  if (places.size > placesKept) places.delete(places.keys().next().value!);
}

const readsKept = 500;

function reads(): [session: string, uuid: string][] {
  try {
    const value: unknown = JSON.parse(readStored('read') ?? '[]');
    return Array.isArray(value)
      ? (value as [string, string][]).filter((pair) => Array.isArray(pair) && pair.length === 2)
      : [];
  } catch {
    return [];
  }
}

/** The newest item that was seen. */
export const lastRead = (session: string): string | undefined => reads().find(([id]) => id === session)?.[1];
/** A browser that keeps nothing shows no line. */
export function keepRead(session: string, uuid: string): void {
  const others = reads().filter(([id]) => id !== session);
  keepStored('read', JSON.stringify([[session, uuid], ...others].slice(0, readsKept)));
}
