/**
 * HAProxy in front of instances, as in production (rules, 15.13): TLS, daemons hashed by `X-Device-ID` to one gateway, apps
 * round robin to the apis. Takes an instance out of the rotation when its /ready says so.
 */
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort, runProgram, startProgram } from './programs.ts';

export interface HaProxy {
  /** `https://localhost:…`, or `http` if it is `plain`: everything at one address, chosen by path. */
  readonly url: string;
  readonly port: number;
  /** File of the certificate that clients must trust (`NODE_EXTRA_CA_CERTS`). Of no use if it is `plain`. */
  readonly certificate: string;
  /** Whether the instance at this port is in the rotation: its newest check said that it is ready. */
  sends(port: number): Promise<boolean>;
  stop(): Promise<void>;
}

const config = (
  apis: readonly number[],
  gateways: readonly number[],
  bind: string,
  scheme: string,
  tunnelMs: number,
  statsPort: number,
) => `
global
  maxconn 9000
defaults
  mode http
  option redispatch 1
  retries 3
  retry-on conn-failure
  timeout connect 2s
  timeout client 90s
  timeout server 90s
  timeout tunnel ${tunnelMs}ms
  timeout http-request 10s
  timeout check 5s
  http-error status 502 content-type application/json string '{"error":"The relay did not answer. Try again.","code":"SERVICE_UNAVAILABLE","status":502}'
  http-error status 503 content-type application/json hdr Retry-After 5 string '{"error":"No instance of the relay can be reached. Try again.","code":"SERVICE_UNAVAILABLE","status":503}'
  http-error status 504 content-type application/json string '{"error":"The relay did not answer in time. Try again.","code":"SERVICE_UNAVAILABLE","status":504}'
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
backend apis
  balance roundrobin
  option httpchk GET /ready
${apis.map((target, index) => `  server api${index} 127.0.0.1:${target} check inter 300ms fall 1 rise 1`).join('\n')}
backend gateways
  balance hdr(X-Device-ID)
  hash-type consistent sdbm avalanche
  hash-balance-factor 125
  retry-on conn-failure 503
  option httpchk GET /ready
${gateways.map((target, index) => `  server gateway${index} 127.0.0.1:${target} check inter 300ms fall 1 rise 1`).join('\n')}
`;

/** Starts it in front of these ports of the loopback address. Needs `haproxy` and `openssl`. */
export async function startHaProxy(targets: {
  apis: readonly number[];
  gateways: readonly number[];
  port?: number;
  /** Without TLS: for browsers, which trust only the system's certificates. */
  plain?: boolean;
  /** How long a socket may be silent. Default an hour. */
  tunnelMs?: number;
}): Promise<HaProxy> {
  const program = findProgram('haproxy', 'haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'relay-haproxy-'));
  const [key, certificate, pem] = [join(folder, 'key.pem'), join(folder, 'cert.pem'), join(folder, 'both.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  runProgram(findProgram('openssl', 'openssl'), [...request, '-addext', names, '-keyout', key, '-out', certificate]);
  writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 });
  const port = targets.port ?? (await freePort());
  const file = join(folder, 'haproxy.cfg');
  const bind = `127.0.0.1:${port}${targets.plain ? '' : ` ssl crt ${pem} alpn http/1.1`}`;
  const scheme = targets.plain ? 'http' : 'https';
  const statsPort = await freePort();
  writeFileSync(file, config(targets.apis, targets.gateways, bind, scheme, targets.tunnelMs ?? 3_600_000, statsPort));
  runProgram(program, ['-c', '-q', '-f', file]);
  // -W and -db: a master in the foreground, which says when its worker listens.
  const child = startProgram(program, ['-W', '-db', '-f', file]);
  await child.wrote(/Loading success/);
  return {
    url: `${scheme}://localhost:${port}`,
    port,
    certificate,
    sends: async (target) => {
      const states = await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text();
      const [head = '', ...rows] = states.split('\n').map((line) => line.split(','));
      const [address, status] = [head.indexOf('addr'), head.indexOf('status')];
      return rows.some((row) => row[address] === `127.0.0.1:${target}` && row[status] === 'UP');
    },
    stop: async () => {
      await child.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
