/** Promise: the metric has the expiry of the certificate that the address presents now: expired, private or renewed. */
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Server, createServer } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestAuthority, makeAuthority } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { watchCertificate } from '../src/certificate.ts';

const gauges = () => {
  const exported = new Map<string, number>();
  const gauge = (name: string) => ({ set: (value: number) => void exported.set(name, value) });
  return { exported, metrics: { gauge } };
};

describeWith('openssl', 'the certificate of the public address', () => {
  let authorities: TestAuthority[];
  let server: Server;
  let publicUrl: string;

  const files = ({ server: { certificate, key } }: TestAuthority) => ({
    cert: readFileSync(certificate),
    key: readFileSync(key),
  });
  const expiryOf = ({ server: { certificate } }: TestAuthority) =>
    Date.parse(new X509Certificate(readFileSync(certificate)).validTo) / 1000;

  beforeAll(async () => {
    authorities = [makeAuthority('localhost', 2), makeAuthority('localhost', 40)];
    server = createServer(files(authorities[0]!), (socket) => socket.on('error', () => undefined)).listen(
      0,
      'localhost',
    );
    await once(server, 'listening');
    publicUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    for (const authority of authorities) authority.remove();
    await new Promise((resolve) => server.close(resolve));
  });

  it('N6: is exported with its expiry, and follows a renewal', async () => {
    const { metrics, exported } = gauges();
    const logger = { debug: () => undefined };
    const watch = watchCertificate({ publicUrl, metrics, logger, everyMs: 20 });
    const shows = async (seconds: number) => {
      while (exported.get('relay_certificate_ends_timestamp_seconds') !== seconds)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    try {
      await shows(expiryOf(authorities[0]!));
      server.setSecureContext(files(authorities[1]!));
      await shows(expiryOf(authorities[1]!));
    } finally {
      watch.stop();
    }
  });

  it('N6: is not exported for an address without TLS, nor for an address that nothing serves', async () => {
    const { metrics, exported } = gauges();
    const reasons: string[] = [];
    const logger = { debug: (_: object, reason: string) => void reasons.push(reason) };
    const none = { metrics, logger };
    watchCertificate({ ...none, publicUrl: 'http://localhost' }).stop();
    const watch = watchCertificate({ ...none, publicUrl: 'https://localhost:1', everyMs: 10 });
    while (reasons.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    watch.stop();
    expect([...exported.keys()]).toEqual([]);
  });
});
