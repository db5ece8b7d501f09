/**
 * Work that any instance of a kind may do, and one should: one of the listeners to a topic is called. A topic has a few places; an instance
 * that listens owns one of them, as a gateway owns a device, and a command to that place reaches it. Works on any backplane.
 */
import type { BackplaneInstance } from './backplane.ts';
import type { Commands } from './commands.ts';
import type { Leases } from './leases.ts';

/** The most listeners of a topic that are called; further ones get nothing until a place is free. */
const places = 16;
/** The most listeners that are asked before the answer is that there is none. */
const tries = 2;

/** No device has such an id: theirs contain no colon. */
const placesOf = (topic: string): string[] => Array.from({ length: places }, (_, n) => `poke:${topic}:${n}`);
const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];

/**
 * Calls `listener` when this instance is the one that is told; false says that it can do no more now, so that another one is told. Takes the
 * commands of the instance: it can own no devices. A place is sought, and kept, every `everyMs`, which must be less than the lifetime of
 * a lease; what fails is tried again then. Returns the end.
 */
export function onPoke(
  backplane: BackplaneInstance & Leases & Commands,
  topic: string,
  listener: () => boolean,
  everyMs: number,
): () => void {
  let held: { device: string; connection: string; fence: number } | undefined;
  const keep = async () => {
    if (held && (await backplane.refresh([held])).length === 0) return;
    held = undefined;
    const all = placesOf(topic);
    const owners = await backplane.owners(all);
    const device = oneOf(all.filter((place) => !owners.has(place)));
    if (device === undefined) return;
    const connection = backplane.instance;
    held = { device, connection, fence: (await backplane.claim(device, connection)).fence };
  };
  const attempt = () => void keep().catch(() => undefined);
  backplane.onCommand(({ device }) => device === held?.device && listener());
  attempt();
  const timer = setInterval(attempt, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Calls one listener of the topic. False: none has confirmed it, because there is none, or those that were asked can do no more. */
export async function poke(backplane: Leases & Commands, topic: string): Promise<boolean> {
  const owned = [...(await backplane.owners(placesOf(topic))).keys()];
  for (let n = 0; n < tries; n += 1) {
    const place = oneOf(owned);
    if (place === undefined) return false;
    if ((await backplane.route(place, '')) === 'sent') return true;
    owned.splice(owned.indexOf(place), 1);
  }
  return false;
}

/**
 * A function that tells one listener of the topic, and `everybody` when none confirms it. Calls that come while one is under way are one call
 * after it.
 */
export function poker(
  backplane: Leases & Commands,
  topic: string,
  everybody: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    do {
      again = false;
      try {
        if (!(await poke(backplane, topic))) await everybody();
      } catch (error) {
        onError(error);
      }
    } while (again);
    running = false;
  };
  return () => {
    again = true;
    if (!running) void run();
  };
}
