/**
 * HAProxy in front of instances, with the backends that the manifests ship (rules, 15.13): TLS, daemons hashed by `X-Device-ID` to one
 * gateway, apps to the api with the fewest connections. An instance leaves the rotation when three checks of its /ready have failed.
 */
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findProgram, freePort, runProgram, startProgram } from './programs.ts';

interface Ingress {
  metadata: { name: string; annotations: Record<string, string> };
}

export interface HaProxy {
  /** `https://localhost:…`, or `http` if it is `plain`: everything at one address, chosen by path. */
  readonly url: string;
  readonly port: number;
  /** File of the authority that clients must trust (`NODE_EXTRA_CA_CERTS`). Of no use if it is `plain`. */
  readonly certificate: string;
  /** Replaces its certificate by a new one of the same authority, as the controller of an Ingress does: by a reload. */
  renewCertificate(): Promise<void>;
  /** Whether the instance at this port is in the rotation. */
  sends(port: number): Promise<boolean>;
  /** The processes that pass traffic on. */
  pids(): number[];
  stop(): Promise<void>;
}

/** The backend of an Ingress as HAProxy's controller writes it from the annotations of k8s/components/ingress-haproxy, before these ports. */
function backend(name: string, ingress: string, ports: readonly number[], showsReady: boolean): string {
  const file = new URL('../../../k8s/components/ingress-haproxy/ingress.yaml', import.meta.url);
  const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as Ingress);
  const annotations = objects.find(({ metadata }) => metadata.name === ingress)!.metadata.annotations;
  const shipped = (annotation: string) => annotations[`haproxy.org/${annotation}`]!;
  return [
    `backend ${name}`,
    `balance ${shipped('load-balance')}`,
    `option httpchk GET ${shipped('check-http')}`,
    `timeout server ${shipped('timeout-server')}`,
    ...shipped('backend-config-snippet')
      .trimEnd()
      .split('\n')
      .filter((line) => !showsReady || !line.includes('/ready')),
    ...ports.map((port, n) => `server ${name}${n} 127.0.0.1:${port} check inter ${shipped('check-interval')}`),
  ].join('\n  ');
}

const config = (
  apis: readonly number[],
  gateways: readonly number[],
  bind: string,
  scheme: string,
  tunnelMs: number,
  statsPort: number,
  showsReady: boolean,
) => `
global
  maxconn 9000
defaults
  mode http
  timeout connect 2s
  timeout client 90s
  timeout tunnel ${tunnelMs}ms
  timeout http-request 10s
  timeout check 5s
frontend states
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
  stats show-legends
frontend doors
  bind ${bind}
  http-request set-header X-Forwarded-Proto ${scheme}
  http-request set-header X-Forwarded-For %[src]
  use_backend gateways if { path /ws/daemon }
  default_backend apis
${backend('apis', 'relay-apps', apis, showsReady)}
${backend('gateways', 'relay-daemons', gateways, showsReady)}
`;

/** Makes an authority, and returns a function that writes a new certificate of it, with its key, to `pem`. */
function issuer(folder: string, authority: string, pem: string): () => void {
  const openssl = findProgram('openssl', 'openssl');
  const [authorityKey, key, certificate] = ['authority.key', 'key.pem', 'cert.pem'].map((name) => join(folder, name));
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  runProgram(openssl, [...request, '-subj', '/CN=Authority', '-keyout', authorityKey!, '-out', authority]);
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const by = ['-CA', authority, '-CAkey', authorityKey!, '-addext', 'basicConstraints=CA:FALSE'];
  return () => {
    runProgram(openssl, [...request, ...names, ...by, '-keyout', key!, '-out', certificate!]);
    writeFileSync(pem, readFileSync(certificate!, 'utf8') + readFileSync(key!, 'utf8'), { mode: 0o600 });
  };
}

/** Starts it in front of these ports of the loopback address. Needs `haproxy` and `openssl`. */
export async function startHaProxy(targets: {
  apis: readonly number[];
  gateways: readonly number[];
  port?: number;
  /** Disables TLS: for browsers, which trust only the system's certificates. */
  plain?: boolean;
  /** How long a socket can be silent. Default an hour. */
  tunnelMs?: number;
  /** For the conformance suite, because the shipped edge hides /ready. */
  showsReady?: boolean;
}): Promise<HaProxy> {
  const program = findProgram('haproxy', 'haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'relay-haproxy-'));
  const [certificate, pem] = [join(folder, 'authority.pem'), join(folder, 'both.pem')];
  const issue = issuer(folder, certificate, pem);
  issue();
  const port = targets.port ?? (await freePort());
  const file = join(folder, 'haproxy.cfg');
  const bind = `127.0.0.1:${port}${targets.plain ? '' : ` ssl crt ${pem} alpn http/1.1`}`;
  const scheme = targets.plain ? 'http' : 'https';
  const statsPort = await freePort();
  const { apis, gateways, tunnelMs = 3_600_000, showsReady = false } = targets;
  writeFileSync(file, config(apis, gateways, bind, scheme, tunnelMs, statsPort, showsReady));
  runProgram(program, ['-c', '-q', '-f', file]);
  // -W and -db: a master in the foreground, which reports when its worker listens.
  const child = startProgram(program, ['-W', '-db', '-f', file]);
  await child.wrote(/Loading success/);
  return {
    url: `${scheme}://localhost:${port}`,
    port,
    certificate,
    renewCertificate: async () => {
      issue();
      child.signal('SIGUSR2');
      await child.wrote(/Loading success[^]*Loading success/);
    },
    sends: async (target) => {
      const states = await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text();
      const [head = '', ...rows] = states.split('\n').map((line) => line.split(','));
      const [address, status] = [head.indexOf('addr'), head.indexOf('status')];
      return rows.some((row) => row[address] === `127.0.0.1:${target}` && row[status]?.startsWith('UP'));
    },
    pids: () => {
      const master = child.process.pid!;
      return readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').map(Number);
    },
    stop: async () => {
      await child.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
