/**
 * The settings of the manifests: each is a variable of the relay, each variable that an operator might need is
 * explained, and the doors accept the rendered environment.
 */
import { readFile } from 'node:fs/promises';
import { describeWith } from '@relay/testing/needs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError, type Role, describeVariables, readConfig } from '@relay/config';
import { alone, containersOf, environmentOf, find, overlays, render } from '../k8s/check/index.mjs';

const k8s = fileURLToPath(new URL('../k8s', import.meta.url));
const settings = (file: string) => readFile(join(k8s, file), 'utf8');
/** Names at the start of a line, set or commented out. */
const namesIn = (text: string) => [...text.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);

const variables = describeVariables();

/** The manifests set these or rely on their defaults. */
const fixed = ['PORT', 'HOST', 'METRICS_PORT', 'INSTANCE_NAME'];

describe('relay.env and the example of the secrets', () => {
  let config: string[];
  let secrets: string[];
  beforeAll(async () => {
    config = namesIn(await settings('base/relay.env'));
    secrets = namesIn(await settings('overlays/production/secrets.env.example'));
  });

  it('name only variables that exist, each once', () => {
    // The Job reads the first, the exporter of OpenTelemetry the second.
    const others = ['MIGRATE_DATABASE_URL', 'OTEL_EXPORTER_OTLP_HEADERS'];
    const known = new Set([...variables.map(({ name }) => name), ...others]);
    expect([...config, ...secrets].filter((name) => !known.has(name))).toEqual([]);
    expect(new Set([...config, ...secrets]).size).toBe(config.length + secrets.length);
  });

  it('explain every variable of a door, except limits, which docs/configuration.md lists', () => {
    const named = new Set([...config, ...secrets, ...fixed]);
    const missing = variables
      .filter(({ group }) => group !== 'Limits')
      .filter(({ readBy }) => readBy.some((role) => role !== 'standalone'))
      .map(({ name }) => name)
      .filter((name) => !named.has(name));
    expect(missing).toEqual([]);
  });

  it('keep secrets out of the ConfigMap', () => {
    const secret = variables
      .filter((variable) => variable.secret && variable.name !== 'OTEL_EXPORTER_OTLP_ENDPOINT')
      .map(({ name }) => name);
    expect(config.filter((name) => secret.includes(name))).toEqual([]);
    expect(secrets).toEqual(expect.arrayContaining(secret));
  });
});

describeWith('kubectl', 'every overlay', () => {
  describe.each(overlays)('%s', (folder) => {
    it.each(['api', 'gateway'] as const)('gives %s a valid environment', async (role: Role) => {
      const objects = await render(folder);
      const [container = {}] = containersOf(find(objects, 'Deployment', `relay-${role}`) ?? {});
      const example = await settings('overlays/production/secrets.env.example');
      const given = Object.fromEntries(
        [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
      );
      const environment = environmentOf(objects, container, {
        ...given,
        AUTH_SECRET: 'a secret of at least 32 characters',
      });
      const config = readConfig(role, environment);
      expect(config).toMatchObject({ port: 4000, host: '0.0.0.0', metricsPort: 9464, trustProxy: 1 });
      expect(config.instanceName).toBe('from-metadata.name');
      const { terminationGracePeriodSeconds } = find(objects, 'Deployment', `relay-${role}`)?.spec.template.spec as {
        terminationGracePeriodSeconds: number;
      };
      expect(terminationGracePeriodSeconds).toBeGreaterThan(config.drainSeconds);
      expect(() => readConfig(role, { ...environment, AUTH_SECRET: '', REDIS_URL: '' })).toThrow(ConfigError);
    });
  });
});

describeWith('kubectl', 'the private authority', () => {
  it.each([
    ['Deployment', 'relay-api'],
    ['Deployment', 'relay-gateway'],
    ['Job', 'relay-migrate'],
  ])('is a file in the pods of %s %s, and Node reads it', async (kind, name) => {
    const folder = alone.find((one) => one.endsWith('keda')) ?? '';
    const pod = find(await render(folder), kind, name)?.spec.template.spec as {
      volumes: { name: string; configMap?: { name: string } }[];
      containers: { env: { name: string; value: string }[]; volumeMounts: { name: string; mountPath: string }[] }[];
    };
    const [{ env, volumeMounts } = { env: [], volumeMounts: [] }] = pod.containers;
    const volume = pod.volumes.find(({ configMap }) => configMap?.name === 'relay-ca');
    const mount = volumeMounts.find((one) => one.name === volume?.name);
    expect(env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: `${mount?.mountPath}/ca.crt` });
    // The component adds its volume to the volumes of the pod.
    expect(volumeMounts.every((one) => pod.volumes.some((each) => each.name === one.name))).toBe(true);
    expect(volumeMounts.length).toBe(name === 'relay-api' ? 2 : 1);
  });
});
