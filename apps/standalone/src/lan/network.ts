/** The local network of this machine: its addresses in local networks, and the address of its pages. */
import { createSocket } from 'node:dgram';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { Refused } from '../refused.ts';

/** Addresses that no router forwards to the internet (RFC 1918), and the machine's own. */
export const privateNetworks = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
] as const;
/** Suffixes of names that no public authority signs. */
export const privateNames = ['local', 'localhost', 'lan', 'home', 'internal', 'home.arpa'] as const;

const privateList = new BlockList();
for (const [network, bits] of privateNetworks) privateList.addSubnet(network, bits);

/** Whether an address (IPv4) belongs to a local network or to this machine. */
export const isPrivate = (address: string | undefined): boolean =>
  address !== undefined && isIPv4(address) && privateList.check(address);

/** The addresses (IPv4) that this machine has in local networks now. */
export const lanAddresses = (interfaces = networkInterfaces()): string[] =>
  Object.values(interfaces)
    .flatMap((several) => several ?? [])
    .filter(({ internal, address }) => !internal && isPrivate(address))
    .map(({ address }) => address);

/** The address this machine uses to reach others; undefined without a network. Sends nothing. */
function addressOutwards(): Promise<string | undefined> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    const end = (address?: string) => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => end());
    // An address for documentation: any address outside of local networks works.
    socket.connect(9, '192.0.2.1', () => end(socket.address().address));
  });
}

const nameRule = new RegExp(
  `^(?:(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+(?:${privateNames.join('|')})|localhost)$`,
);

/**
 * The host of the pages: the given one, or the address of the main network.
 * @throws Refused with advice
 */
export async function lanHost(given: string | undefined): Promise<string> {
  const addresses = lanAddresses();
  if (given === undefined) {
    const outwards = await addressOutwards();
    const host = addresses.find((address) => address === outwards) ?? addresses[0];
    if (host !== undefined) return host;
    throw new Refused(
      'This machine has no address in a local network (10.…, 172.16 to 172.31.…, 192.168.…). Connect it to one; or name its address ' +
        'with --lan-host; or use a proxy or a tunnel (docs/reach.md).',
    );
  }
  const host = given.toLowerCase();
  if (isIP(host) === 0) {
    if (nameRule.test(host)) return host;
    throw new Refused(
      `--lan-host is "${given}"; it must be an address of this machine in a local network, or a name that ends with ` +
        `.${privateNames.join(', .')}. A name of the internet needs a certificate of a public authority (docs/reach.md).`,
    );
  }
  if (addresses.includes(host) || (isPrivate(host) && host.startsWith('127.'))) return host;
  const has = addresses.length === 0 ? 'none' : addresses.join(', ');
  throw new Refused(
    `--lan-host is "${given}", which is not an address of this machine in a local network. It has ${has}.`,
  );
}

/**
 * Every name and address of the certificate: a phone can use any of them, and programs of this machine use localhost.
 */
export function lanNames(host: string): string[] {
  const name = hostname().toLowerCase().split('.')[0] ?? '';
  const own = `${name}.local`;
  return [...new Set([host, ...(nameRule.test(own) ? [own] : []), 'localhost', ...lanAddresses(), '127.0.0.1'])];
}
