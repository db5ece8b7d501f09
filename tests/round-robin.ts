/**
 * A plain round robin in front of instances: every request and every WebSocket goes to the next one. It knows nothing
 * of the relay except the path for daemons. Like other proxies, it forwards the address of the client.
 */
import { once } from 'node:events';
import { type IncomingHttpHeaders, createServer, request as forward } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';

export interface RoundRobin {
  readonly url: string;
  /** The number of requests and upgrades of each instance, in the order of `behind`. */
  readonly counts: { apis: number[]; gateways: number[] };
  /** Sets the addresses of the instances. */
  behind(apis: readonly string[], gateways: readonly string[]): void;
  close(): Promise<void>;
}

export async function startRoundRobin(): Promise<RoundRobin> {
  let doors = { apis: [] as readonly string[], gateways: [] as readonly string[] };
  const counts = { apis: [] as number[], gateways: [] as number[] };
  const turn = { apis: 0, gateways: 0 };
  const sockets = new Set<Socket>();

  const next = (path: string): URL => {
    const kind = path.startsWith('/ws/daemon') ? 'gateways' : 'apis';
    const index = turn[kind]++ % doors[kind].length;
    counts[kind][index] = (counts[kind][index] ?? 0) + 1;
    return new URL(doors[kind][index]!);
  };
  const withAddress = (headers: IncomingHttpHeaders, socket: Socket): IncomingHttpHeaders => {
    const told = headers['x-forwarded-for'];
    const address = socket.remoteAddress ?? '';
    return { ...headers, 'x-forwarded-for': told === undefined ? address : `${String(told)}, ${address}` };
  };

  const server = createServer((incoming, outgoing) => {
    const target = next(incoming.url ?? '/');
    const { method, url: path, headers, socket } = incoming;
    const options = { hostname: target.hostname, port: target.port, method, path, agent: false as const };
    const onward = forward({ ...options, headers: withAddress(headers, socket) }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.headersSent || outgoing.writeHead(502).end());
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (incoming, client: Socket, head: Buffer) => {
    const target = next(incoming.url ?? '/');
    const onward = connect(Number(target.port), target.hostname, () => {
      const headers = Object.entries(withAddress(incoming.headers, client))
        .map(([name, value]) => `${name}: ${String(value)}\r\n`)
        .join('');
      onward.write(`${incoming.method ?? 'GET'} ${incoming.url ?? '/'} HTTP/1.1\r\n${headers}\r\n`);
      onward.write(head);
      client.pipe(onward).pipe(client);
    });
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    behind: (apis, gateways) => {
      doors = { apis, gateways };
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
