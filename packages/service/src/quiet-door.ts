/**
 * A door for one guest: the relay itself, which connects through the load balancer to measure how long a socket can be
 * silent on the way.
 * The door stays silent for that time, then closes. Independent of daemons and apps; strangers lack a ticket and never
 * see it.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Stored where every instance finds them: the load balancer can choose any instance. */
export interface Tickets {
  put(key: string, value: string, ttlMs: number): Promise<void>;
  /** Get and delete. */
  take(key: string): Promise<string | undefined>;
}

interface QuietDoorOptions {
  readonly tickets: Tickets;
  /** How long the door stays silent: a little longer than the relay ever does. */
  readonly quietMs: number;
}

export interface QuietDoor {
  /** A ticket for one socket, to be sent as the header `ticketHeader` within a minute. */
  issue(): Promise<string>;
  /** Takes the upgrade of a guest with a ticket; passes other requests to `next`. */
  upgrade(request: IncomingMessage, duplex: Duplex, next: () => void): void;
  /** Closes the sockets of its guests because the instance leaves. */
  close(): void;
}

export const ticketHeader = 'x-relay-self-check';
/** The close codes of a goodbye: all was quiet, or this instance leaves. */
export const goodbye = { quiet: 1000, leaving: 1001 } as const;

const ticketPattern = /^[\w-]{43}$/;
const ticketTtlMs = 60_000;
/** Each instance comes a few times at its start; no rollout is larger than this. */
const maxGuests = 64;
/** The text that RFC 6455 appends to the key. */
const acceptance = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const keyOf = (ticket: string): string => `self-check:${ticket}`;
const closeFrame = (code: number): Buffer => Buffer.from([0x88, 2, code >> 8, code & 0xff]);

export function createQuietDoor({ tickets, quietMs }: QuietDoorOptions): QuietDoor {
  const guests = new Map<Duplex, NodeJS.Timeout>();
  /** Tickets that are being looked up: invented tickets must not keep the store busy. */
  let asking = 0;

  const leave = (duplex: Duplex, code: number): void => {
    clearTimeout(guests.get(duplex));
    guests.delete(duplex);
    duplex.end(closeFrame(code), () => duplex.destroy());
  };

  const welcome = (request: IncomingMessage, duplex: Duplex): void => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key'] ?? ''}${acceptance}`)
      .digest('base64');
    const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
    guests.set(
      duplex,
      setTimeout(() => leave(duplex, goodbye.quiet), quietMs),
    );
    duplex.once('close', () => {
      clearTimeout(guests.get(duplex));
      guests.delete(duplex);
    });
    duplex.resume();
    duplex.write(head);
  };

  return {
    issue: async () => {
      const ticket = randomBytes(32).toString('base64url');
      await tickets.put(keyOf(ticket), '1', ticketTtlMs);
      return ticket;
    },
    upgrade: (request, duplex, next) => {
      const ticket = request.headers[ticketHeader];
      if (typeof ticket !== 'string' || !ticketPattern.test(ticket) || guests.size + asking >= maxGuests) {
        next();
        return;
      }
      const ignore = () => undefined;
      duplex.on('error', ignore);
      asking += 1;
      tickets.take(keyOf(ticket)).then(
        (redeemed) => {
          asking -= 1;
          if (redeemed !== undefined) welcome(request, duplex);
          else {
            duplex.off('error', ignore);
            next();
          }
        },
        () => {
          asking -= 1;
          duplex.destroy();
        },
      );
    },
    close: () => {
      for (const duplex of [...guests.keys()]) leave(duplex, goodbye.leaving);
    },
  };
}
