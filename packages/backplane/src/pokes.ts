/**
 * Work for one of several instances of a kind: `poke` calls one listener of a topic. A topic has a few places. A
 * listening instance leases one of them, as a gateway leases a device, and receives the commands to that place. Works
 * on any backplane.
 */
import type { BackplaneInstance } from './backplane.ts';
import type { Commands } from './commands.ts';
import type { Leases } from './leases.ts';

/** The most listeners of a topic that are called; further ones get nothing until a place is free. */
const places = 16;
/** The most listeners to try before giving up. */
const tries = 2;

/** No device has such an id: theirs contain no colon. */
const placesOf = (topic: string): string[] => Array.from({ length: places }, (_, n) => `poke:${topic}:${n}`);
const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];

/**
 * Calls `listener` when a poke reaches this instance; false means that it is busy, so that `poke` tries another
 * instance. Takes over the commands of the instance, which therefore cannot own devices. Looks for a place, and renews
 * it, every `everyMs`, which must be less than the lifetime of a lease; a failure is retried at the next interval.
 * Returns a function that stops listening.
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

/**
 * Calls one listener of the topic. False: no listener confirmed, because the topic has no listener or the tried
 * listeners are busy.
 */
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
 * Returns a function that pokes one listener of the topic and calls `everybody` if no listener confirms. Calls during a
 * running poke are merged into one poke after it.
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
