import { afterEach, describe, expect, it } from '@jest/globals';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { type Crowd, type CrowdOptions, boundCrowd } from '../src/crowd.ts';

/** The number of files the bound is for: 32 are reserved, 32 more for the probes, 36 are for all others. */
const openFiles = 100;
const everybody = 36;
const generous: CrowdOptions = { silentLimit: 1000, openFiles: undefined };

/** A certificate for the loopback address, PEM. */
async function selfSigned() {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({
    keys,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { certificate: made.toString('pem'), key };
}

describe('R4: a crowd at the port', () => {
  let server: Server;
  let crowd: Crowd;
  let clients: Socket[] = [];

  const open = async (options: CrowdOptions) => {
    server = createServer((request, response) => response.end(request.url === '/health' ? 'alive' : 'served'));
    crowd = boundCrowd(server, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const dial = async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('utf8').on('error', () => undefined);
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  /** The answer; empty if the socket closes without one. */
  const ask = async (client: Socket, path: string): Promise<string> => {
    client.write(`GET ${path} HTTP/1.1\r\nHost: relay\r\n\r\n`);
    const [data = ''] = (await Promise.race([once(client, 'data'), once(client, 'close')])) as [string | boolean];
    return typeof data === 'string' ? data : '';
  };

  afterEach(async () => {
    for (const client of clients) client.destroy();
    clients = [];
    crowd.cut();
    server.close();
    await once(server, 'close');
  });

  it('R4: of more silent sockets than the bound the longest silent one is cut, and who asks is not silent', async () => {
    await open({ ...generous, silentLimit: 3, graceMs: 0 });
    const speaker = await dial();
    expect(await ask(speaker, '/')).toContain('served');
    const silent = [await dial(), await dial(), await dial()];
    const ended = once(silent[0]!, 'close');
    const late = await dial();
    await ended;
    expect(await ask(late, '/')).toContain('served');
    expect(await ask(silent[2]!, '/')).toContain('served');
    expect(await ask(speaker, '/')).toContain('served');
  });

  it('R4: closes a silent socket, or one with a slow head or body', async () => {
    await open({ ...generous, headMs: 100, requestMs: 200, lookMs: 20 });
    const [silent, head, body] = [await dial(), await dial(), await dial()];
    const ended = [silent, head, body].map((client) => once(client, 'close'));
    for (const client of [silent, head, body]) client.resume();
    head.write('GET / HTTP/1.1\r\nX-Drip: ');
    body.write('POST / HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\n');
    const drip = setInterval(() => {
      head.write('x');
      body.write('1\r\nx\r\n');
    }, 20);
    await Promise.all(ended);
    clearInterval(drip);
  });

  it('R4: with few files left, answers probes, rejects other requests with a retry, and finally refuses sockets', async () => {
    await open({ ...generous, openFiles });
    for (let n = 0; n < everybody; n += 1) expect(await ask(await dial(), '/')).toContain('served');
    const refused = await ask(await dial(), '/');
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toContain('Retry-After: 5');
    const probe = await dial();
    expect(await ask(probe, '/health')).toMatch(/^HTTP\/1\.1 200 OK[^]*Connection: close[^]*alive/);
    if (!probe.closed) await once(probe, 'close');
    const others: Socket[] = [];
    for (let n = 0; n < 40; n += 1) others.push(await dial());
    expect(await ask(others.at(-1)!, '/health')).toBe('');
    for (const other of others) other.destroy();
    clients[0]!.destroy();
    for (;;) {
      const answer = await ask(await dial(), '/');
      if (answer.includes('served')) break;
    }
  });

  it('R4: over TLS a socket that asks is not silent either', async () => {
    const { certificate: cert, key } = await selfSigned();
    server = createSecureServer({ cert, key }, (_, response) => response.end('served'));
    crowd = boundCrowd(server, { ...generous, silentLimit: 2, graceMs: 0 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const dialSecure = async () => {
      const client = connectSecure({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ca: cert });
      client.setEncoding('utf8').on('error', () => undefined);
      clients.push(client);
      await once(client, 'secureConnect');
      return client;
    };
    const speaker = await dialSecure();
    expect(await ask(speaker, '/')).toContain('served');
    const silent = [await dialSecure(), await dialSecure()];
    const ended = once(silent[0]!.resume(), 'close');
    await dialSecure();
    await ended;
    expect(await ask(speaker, '/')).toContain('served');
  });
});
