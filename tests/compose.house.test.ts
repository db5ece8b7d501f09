/** compose.yaml starts the same programs as Kubernetes does, with settings that the relay knows. Needs no engine. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '@relay/config';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFile(join(root, file), 'utf8');
const values: Record<string, string> = {
  RELAY_HOST: 'relay.example.com',
  POSTGRES_PASSWORD: 'a-password-of-postgres',
  REDIS_PASSWORD: 'a-password-of-redis',
  AUTH_SECRET: 'a secret of the sign-in with 32 characters or more',
};
/** Expands variables like Compose: `${NAME}`, `${NAME:-default}`, `${NAME:?why}`. */
const filled = (text: string, more: Record<string, string> = {}) =>
  text.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?(?::\?[^}]*)?\}/g,
    (_, name: string, other?: string) => more[name] ?? values[name] ?? other ?? '',
  );

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  networks?: string[];
  volumes?: string[];
  healthcheck?: object;
  cap_drop?: string[];
  cap_add?: string[];
  read_only?: boolean;
  depends_on?: string[] | Record<string, { condition: string }>;
}

describe('compose.yaml', () => {
  let services: Record<string, Service>;
  beforeAll(async () => {
    ({ services } = parse(filled(await read('compose.yaml')), { merge: true }) as {
      services: Record<string, Service>;
    });
  });

  it('S15: gives every container limits, and only the capabilities that it needs', () => {
    const kept: Record<string, string[]> = {
      caddy: ['NET_BIND_SERVICE'],
      postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    };
    for (const [name, service] of Object.entries(services)) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
          mem_limit: expect.stringMatching(/^\d+[mg]$/),
          pids_limit: expect.any(Number),
        }),
      ]);
      expect([name, service.cap_add ?? []]).toEqual([name, kept[name] ?? []]);
      expect([name, service.read_only ?? false]).toEqual([name, name !== 'postgres']);
    }
  });

  it('S15: pins images to the digests that the operator sets', async () => {
    const digest = `@sha256:${'a'.repeat(64)}`;
    const named = { CADDY_DIGEST: digest, POSTGRES_DIGEST: digest, REDIS_DIGEST: digest };
    const text = filled(await read('compose.yaml'), named);
    const { services: pinned } = parse(text, { merge: true }) as { services: typeof services };
    for (const name of ['caddy', 'postgres', 'redis']) expect(pinned[name]!.image).toMatch(/:\d[\w.-]*@sha256:a{64}$/);
  });

  it('S15: sets Strict-Transport-Security for browsers', async () => {
    expect(await read('docker/Caddyfile')).toMatch(/header Strict-Transport-Security "max-age=(?:\d{8,})/);
  });

  it('gives api and gateway valid settings', () => {
    for (const role of ['api', 'gateway'] as const) {
      const { command, environment } = services[role]!;
      expect(command).toEqual([role]);
      expect(readConfig(role, environment!)).toMatchObject({
        publicUrl: 'https://relay.example.com',
        instanceName: role,
        trustProxy: 1,
      });
    }
    expect(services['migrate']).toMatchObject({
      command: ['migrate'],
      environment: { DATABASE_URL: expect.any(String) },
    });
  });

  it('passes the secret of the sign-in to the api only, and publishes the ports of Caddy only', () => {
    const withSecret = Object.entries(services).filter(([, { environment }]) => environment?.['AUTH_SECRET']);
    expect(withSecret.map(([name]) => name)).toEqual(['api']);
    expect(Object.keys(services).filter((name) => services[name]!.ports)).toEqual(['caddy']);
    for (const name of ['postgres', 'redis']) expect(services[name]!.networks).toEqual(['inside']);
  });

  it('gives the api its own secret for notification addresses if .env has one', async () => {
    expect(readConfig('api', services['api']!.environment!).pushSecret).toEqual([values['AUTH_SECRET']]);
    const own = 'a secret of addresses with 32 characters or more';
    const { api } = (
      parse(filled(await read('compose.yaml'), { PUSH_SECRET: own }), { merge: true }) as { services: typeof services }
    ).services;
    expect(readConfig('api', api!.environment!).pushSecret).toEqual([own]);
  });

  it('starts each container after its dependencies', () => {
    for (const [name, { depends_on: needs }] of Object.entries(services))
      for (const [other, { condition }] of Array.isArray(needs) ? [] : Object.entries(needs ?? {}))
        expect([
          name,
          other,
          condition === 'service_healthy' ? services[other]!.healthcheck !== undefined : condition,
        ]).toEqual([name, other, condition === 'service_healthy' ? true : 'service_completed_successfully']);
  });

  it('lists every variable without a default in the example of .env, and gives every image a version', async () => {
    const asked = new Set([...(await read('compose.yaml')).matchAll(/\$\{(\w+)(?!\w|:-)/g)].map(([, name]) => name));
    const given = [...(await read('docker/compose.env.example')).matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(given.sort()).toEqual([...asked].sort());
    for (const { image } of Object.values(services)) expect(image).toMatch(/:\d+[\w.-]*$/);
  });

  it('routes daemons to the gateway and everything else to the api, in its Caddyfile', async () => {
    const lines = (await read('docker/Caddyfile')).split('\n').map((line) => line.trim());
    expect(lines[0]).toBe('{$RELAY_HOST} {');
    expect(lines).toEqual(expect.arrayContaining(['reverse_proxy /ws/daemon gateway:4000', 'reverse_proxy api:4000']));
  });
});
