import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PeerCertificate, connect, createServer as createSecureServer } from 'node:tls';
import { twoFreePorts } from '@relay/testing';
import { type Authority, keptAuthority } from '../src/lan/authority.ts';
import { isPrivate, lanAddresses, lanHost, lanNames } from '../src/lan/network.ts';
import { type LanDeps, lanPlace, openLan } from '../src/lan/open.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-lan-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The certificate that a program sees there which trusts this authority alone. Rejects when it refuses. */
async function greeted(port: number, { certificate }: Authority, host = '127.0.0.1', servername = host) {
  const socket = connect({ host, port, ca: certificate, ...(/[a-z]/.test(servername) ? { servername } : {}) });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}

describe('the authority of the local network', () => {
  /** The outcome of a handshake with a server that has a certificate for these names. */
  async function offered(authority: Authority, names: string[], servername?: string): Promise<PeerCertificate> {
    const server = createSecureServer(await authority.issue(names)).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => undefined);
    await once(server, 'listening');
    try {
      return await greeted((server.address() as { port: number }).port, authority, '127.0.0.1', servername);
    } finally {
      server.close();
    }
  }

  it('is made once per folder: its key for its owner alone, its certificate for all', async () => {
    const first = await keptAuthority(folder);
    const key = join(folder, 'lan-authority.pem');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    chmodSync(key, 0o644);
    const again = await keptAuthority(folder);
    expect(again).toMatchObject({ certificate: first.certificate, fingerprint: first.fingerprint });
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(again.file, 'utf8')).toBe(first.certificate);
    expect(again.certificate).not.toContain('PRIVATE');
  });

  it('vouches for addresses and names of local networks', async () => {
    const authority = await keptAuthority(folder);
    const names = ['127.0.0.1', '192.168.1.5', 'laptop.local', 'localhost'];
    const { subjectaltname } = await offered(authority, names);
    expect(subjectaltname).toBe('IP Address:127.0.0.1, IP Address:192.168.1.5, DNS:laptop.local, DNS:localhost');
    await offered(authority, names, 'laptop.local');
  });

  it.each([
    ['a name', 'bank.example.com'],
    ['a name that only ends like one', 'evil-local'],
    ['an address', '203.0.113.7'],
  ])('is refused by who trusts it when it vouches for %s of the internet', async (_, name) => {
    const authority = await keptAuthority(folder);
    await expect(offered(authority, ['127.0.0.1', name])).rejects.toThrow(/permitted subtree violation/);
  });

  it.each([
    ['no authority', 'nonsense', /holds no certificate authority.*Restore it/],
    ['the key of another', undefined, /holds a key of another certificate.*delete it/],
  ])('gives advice about a file with %s', async (_, text, says) => {
    const { certificate } = await keptAuthority(folder);
    const other = join(folder, 'other');
    await keptAuthority(other);
    const key = readFileSync(join(other, 'lan-authority.pem'), 'utf8').split('-----BEGIN CERT')[0]!;
    writeFileSync(join(folder, 'lan-authority.pem'), text ?? `${key}${certificate}`);
    await expect(keptAuthority(folder)).rejects.toThrow(says);
  });
});

describe('the addresses of the local network', () => {
  it('are addresses that no router forwards', () => {
    expect(['10.1.2.3', '172.16.0.1', '172.31.255.1', '192.168.178.20', '127.0.0.2'].every(isPrivate)).toBe(true);
    expect(['172.32.0.1', '192.169.0.1', '100.64.0.1', '8.8.8.8', '::1', 'fe80::1'].some(isPrivate)).toBe(false);
  });

  it('leave out the loopback address and internet addresses', () => {
    const of = (address: string, internal = false) => [{ address, internal, family: 'IPv4' }];
    const interfaces = { lo: of('127.0.0.1', true), eth0: of('203.0.113.7'), wlan0: of('192.168.1.5') };
    expect(lanAddresses(interfaces as unknown as Parameters<typeof lanAddresses>[0])).toEqual(['192.168.1.5']);
  });

  it.each(['relay.example.com', 'local', '8.8.8.8', '192.168.255.254', 'evil-local', '::1'])(
    'or a private name may be given, and not %s',
    async (host) => {
      await expect(lanHost(host)).rejects.toThrow(`--lan-host is "${host}"`);
    },
  );

  it('come with localhost in the certificate', async () => {
    expect(await lanHost('Laptop.local')).toBe('laptop.local');
    expect(lanNames('laptop.local')).toEqual(expect.arrayContaining(['laptop.local', 'localhost', '127.0.0.1']));
  });
});

describe('the doors to the local network', () => {
  const door = {
    handler: (_: unknown, response: { end(text: string): void }) => response.end('the relay'),
    upgrade: () => undefined,
  } as unknown as Parameters<typeof openLan>[0];
  const logger = { info: () => undefined, warn: () => undefined } as unknown as LanDeps['logger'];
  let authority: Authority;
  let port: number;
  const ends: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    authority = await keptAuthority(folder);
    port = await twoFreePorts();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const open = async (more: Partial<LanDeps> = {}) => {
    const place = await lanPlace({ host: '127.0.0.1', port });
    const lan = await openLan(door, place, { authority, logger, connectingLimit: 1000, ...more });
    ends.push(() => lan.close(0));
    return place;
  };

  /** Connects again and again until the certificate is such a one. */
  const seen = async (isSuch: (certificate: PeerCertificate) => boolean) => {
    for (let n = 0; n < 500; n += 1) if (isSuch(await greeted(port, authority))) return;
    throw new Error('the certificate stays as it is');
  };

  it('are the relay by https, and a page that hands over the certificate and nothing else', async () => {
    const { url, trustUrl } = await open();
    const answer = request(url, { ca: authority.certificate }).end();
    const [response] = (await once(answer, 'response')) as [AsyncIterable<Buffer>];
    let said = '';
    for await (const chunk of response) said += chunk.toString();
    expect(said).toBe('the relay');
    const page = await (await fetch(trustUrl)).text();
    expect(page).toContain(`<a href="${url}/">`);
    const [, file = ''] = /href="(\/[^"]+)"/.exec(page) ?? [];
    const handed = await fetch(`${trustUrl}${file}`);
    expect(handed.headers.get('content-type')).toBe('application/x-x509-ca-cert');
    expect(await handed.text()).toBe(authority.certificate);
    expect((await fetch(`${trustUrl}/api/devices`)).status).toBe(404);
    expect((await fetch(trustUrl, { method: 'POST' })).status).toBe(404);
  });

  it('have another certificate when the addresses of the machine change', async () => {
    let names = ['127.0.0.1'];
    await open({ names: () => names, lookMs: 5 });
    expect((await greeted(port, authority)).subjectaltname).toBe('IP Address:127.0.0.1');
    names = ['127.0.0.1', '192.168.1.5'];
    await seen(({ subjectaltname }) => subjectaltname === 'IP Address:127.0.0.1, IP Address:192.168.1.5');
  });

  it('get a new certificate before the current one expires', async () => {
    const soon = new Date(Date.now() + 86_400_000);
    const ending: Authority = {
      ...authority,
      issue: async (names) => ({ ...(await authority.issue(names)), endsAt: soon }),
    };
    await open({ authority: ending, names: () => ['127.0.0.1'], lookMs: 5 });
    const { serialNumber } = await greeted(port, authority);
    await seen((certificate) => certificate.serialNumber !== serialNumber);
  });

  it.each([0, 1])('name the option when their port is taken, and leave nothing open (%i)', async (which) => {
    const other = createServer().listen(port + which, '0.0.0.0');
    await once(other, 'listening');
    await expect(open()).rejects.toMatchObject({ code: 'EADDRINUSE', setting: '--lan-port' });
    other.close();
    await once(other, 'close');
    await open();
  });
});
