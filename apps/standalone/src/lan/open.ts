/** The doors to the local network: the relay by https, and beside it the page that hands over the certificate. */
import { createHash } from 'node:crypto';
import { type IncomingMessage, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type Served, serve } from '@relay/service';
import type { Logger } from '@relay/telemetry';
import type { LanOptions } from '../arguments.ts';
import type { bothDoors } from '../doors.ts';
import { type Authority, renewBeforeMs } from './authority.ts';
import { isPrivate, lanAddresses, lanHost, lanNames } from './network.ts';
import { certificatePath, trustPage } from './trust-page.ts';

interface LanPlace {
  readonly host: string;
  readonly port: number;
  /** PUBLIC_URL: the relay, by https. */
  readonly url: string;
  /** The page with the certificate, without https. */
  readonly trustUrl: string;
}

/** The future address. @throws Refused with advice */
export async function lanPlace({ host: given, port }: LanOptions): Promise<LanPlace> {
  const host = await lanHost(given);
  return { host, port, url: `https://${host}:${port}`, trustUrl: `http://${host}:${port + 1}` };
}

export interface LanDeps {
  readonly authority: Authority;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Sockets without a request so far. */
  readonly connectingLimit: number;
  /** Returns the current names and addresses of this machine. */
  readonly names?: () => string[];
  /** The interval between two checks of them. Default: a minute. */
  readonly lookMs?: number;
}

/** Listens on all addresses, because they change; requests to an address outside of local networks get no answer. */
const everyAddress = '0.0.0.0';
const handshakeMs = 10_000;

/**
 * Listens, and keeps the certificate valid: issues a new one when the addresses of this machine change, and before the
 * current one expires. Rejects with the error of the system (EADDRINUSE, …), which names the option to change; nothing
 * is open then.
 */
export async function openLan(
  door: Pick<ReturnType<typeof bothDoors>, 'handler' | 'upgrade'>,
  { host, port, url }: LanPlace,
  { authority, logger, connectingLimit, names = () => lanNames(host), lookMs = 60_000 }: LanDeps,
): Promise<{ close(withinMs: number): Promise<void> }> {
  let hosts = names();
  let issued = await authority.issue(hosts);
  const isOutside = ({ socket }: IncomingMessage) => !isPrivate(socket.localAddress);
  const secure = createSecureServer({ ...issued, handshakeTimeout: handshakeMs }, (request, response) =>
    isOutside(request) ? request.socket.destroy() : door.handler(request, response),
  );
  secure.on('upgrade', (request, duplex, head) =>
    isOutside(request) ? duplex.destroy() : door.upgrade(request, duplex, head),
  );
  const hand = trustPage(authority.certificate, url);
  const plain = createServer((request, response) =>
    isOutside(request) ? request.socket.destroy() : hand(request, response),
  );

  const served: Served[] = [];
  const close = async (withinMs: number) => {
    clearInterval(looking);
    await Promise.all(served.map((one) => one.finish(withinMs)));
    await Promise.all(served.map((one) => one.cut()));
  };
  const renew = async () => {
    const now = names();
    const isEnding = issued.endsAt.getTime() < Date.now() + renewBeforeMs;
    if (!isEnding && now.join() === hosts.join()) return;
    hosts = now;
    issued = await authority.issue(now);
    secure.setSecureContext(issued);
    logger.info({ names: now, endsAt: issued.endsAt }, 'the certificate for the local network was renewed');
    if (isPrivate(host) && !host.startsWith('127.') && !lanAddresses().includes(host))
      logger.warn(
        `This machine no longer has the address ${host}, which is in every link and sign-in. Start the relay again; or give the machine a ` +
          'fixed address; or start with --lan-host <name>.local, which stays.',
      );
  };
  const looking = setInterval(() => {
    renew().catch((error: unknown) => logger.warn({ err: error }, 'the certificate could not be renewed'));
  }, lookMs);
  looking.unref();

  try {
    served.push(await serve(secure, { host: everyAddress, port, connectingLimit }));
    served.push(await serve(plain, { host: everyAddress, port: port + 1, connectingLimit }));
  } catch (error) {
    await close(0);
    throw Object.assign(error as Error, { setting: '--lan-port' });
  }
  return { close };
}

/** Where another machine gets the certificate, and the SHA-256 of the file in hex: the pages print it in their command. */
export const handedOver = ({ trustUrl }: LanPlace, { certificate }: Authority) => ({
  url: `${trustUrl}${certificatePath}`,
  sha256: createHash('sha256').update(certificate).digest('hex'),
});

/** The lines for people at the start. */
export const lanWelcome = ({ url, trustUrl }: LanPlace, { fingerprint, file }: Authority): string[] => [
  `Open to the local network at ${url}. Each phone must trust its certificate once: ${trustUrl} has it, with instructions.`,
  `  Compare the SHA-256 fingerprint that the phone shows: ${fingerprint}`,
  '  Until then its browser warns, and there are no notifications, passkeys, installation, or pages without a network.',
  `  Programs on this machine: NODE_EXTRA_CA_CERTS=${file}. On other machines: a copy of that file (docs/reach.md).`,
];
