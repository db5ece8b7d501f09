import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { checkProxy, quietMsOf } from '../src/proxy-check.ts';
import { type Tickets, createQuietDoor } from '../src/quiet-door.ts';

const pingIntervalMs = 300;
const neverMs = 3_600_000;
const path = '/ws/daemon';

/** The store that instances share. */
function createTickets(): Tickets & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    put: (key, value) => Promise.resolve(void kept.set(key, value)),
    take: (key) => {
      const value = kept.get(key);
      kept.delete(key);
      return Promise.resolve(value);
    },
  };
}

describe('the check of the way through PUBLIC_URL', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  const listening = async (server: { address(): unknown }) => {
    await once(server as Server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  /** An instance; `turnedAway` counts upgrades that were not its guest's. */
  const startInstance = async (tickets = createTickets(), quietMs = quietMsOf(pingIntervalMs)) => {
    const door = createQuietDoor({ tickets, quietMs });
    const instance = { door, tickets, turnedAway: 0, admitted: 0, port: 0 };
    const server = createServer();
    server.on('upgrade', (request, duplex) => {
      let passedOn = false;
      door.upgrade(request, duplex, () => {
        passedOn = true;
        instance.turnedAway += 1;
        duplex.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
      duplex.once('resume', () => (instance.admitted += passedOn ? 0 : 1));
    });
    instance.port = await listening(server.listen(0, '127.0.0.1'));
    ends.push(() => {
      door.close();
      server.closeAllConnections();
      server.close();
    });
    return instance;
  };

  /** Cuts connections after this much silence, as load balancers do. */
  const startProxy = async (target: number, idleMs: number) => {
    const sockets = new Set<Socket>();
    const proxy = createTcpServer((incoming) => {
      const outgoing = connect(target, '127.0.0.1');
      const cut = () => {
        incoming.destroy();
        outgoing.destroy();
      };
      for (const socket of [incoming, outgoing]) {
        sockets.add(socket);
        socket.setTimeout(idleMs, cut);
        socket.on('error', cut);
        socket.on('close', cut);
      }
      incoming.pipe(outgoing).pipe(incoming);
    });
    const port = await listening(proxy.listen(0, '127.0.0.1'));
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    return port;
  };

  const check = (port: number, door: ReturnType<typeof createQuietDoor>, interval = pingIntervalMs) => {
    const said: { level: string; text: string }[] = [];
    const log = {
      warn: (_: object, text: string) => void said.push({ level: 'warn', text }),
      info: (_: object, text: string) => void said.push({ level: 'info', text }),
    };
    const publicUrl = `http://127.0.0.1:${port}`;
    const running = checkProxy({ publicUrl, path, pingIntervalMs: interval, door, log, pausesMs: [1, 1, 1] });
    ends.push(() => running.stop());
    return { said, running };
  };

  it('logs nothing when the network allows more silence than the relay needs', async () => {
    const { door, port } = await startInstance();
    const { said, running } = check(await startProxy(port, neverMs), door);
    await running.done;
    expect(said).toEqual([]);
  });

  it('warns when the network cuts earlier, naming address, variable and its value', async () => {
    const { door, port } = await startInstance(createTickets(), neverMs);
    const proxy = await startProxy(port, 100);
    const { said, running } = check(proxy, door, neverMs);
    await running.done;
    expect(said).toHaveLength(1);
    expect(said[0]?.level).toBe('warn');
    expect(said[0]?.text).toContain(`http://127.0.0.1:${proxy}`);
    expect(said[0]?.text).toMatch(/PING_INTERVAL_MS.*timeout tunnel.*proxy_read_timeout/);
  });

  it('can reach any instance', async () => {
    const tickets = createTickets();
    const [mine, other] = [await startInstance(tickets), await startInstance(tickets)];
    const { said, running } = check(other.port, mine.door);
    await running.done;
    expect(said).toEqual([]);
    expect(tickets.kept.size).toBe(0);
  });

  it('tries again when the instance it reached leaves, and does not blame the proxy', async () => {
    const tickets = createTickets();
    const leaving = await startInstance(tickets, neverMs);
    const { said, running } = check(leaving.port, leaving.door, neverMs);
    let left = 0;
    // Each time it has come in, the instance leaves.
    while (left < 4) {
      await new Promise((resolve) => setImmediate(resolve));
      if (leaving.admitted > left) {
        left += 1;
        leaving.door.close();
      }
    }
    await running.done;
    expect(said.map(({ level }) => level)).toEqual(['info']);
    expect(said[0]?.text).toContain('not known');
  });

  it('reports a failed test, without a warning, when the address leads nowhere or to another service', async () => {
    const { door } = await startInstance();
    const stranger = createServer();
    stranger.on('upgrade', (_, duplex) => duplex.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n'));
    const port = await listening(stranger.listen(0, '127.0.0.1'));
    ends.push(() => stranger.close());
    const elsewhere = check(port, door);
    await elsewhere.running.done;
    expect(elsewhere.said.map(({ level }) => level)).toEqual(['info']);
    const nowhere = check(1, door);
    await nowhere.running.done;
    expect(nowhere.said.map(({ level }) => level)).toEqual(['info']);
  });

  it('stops with the instance', async () => {
    const { door, port } = await startInstance(createTickets(), neverMs);
    const { said, running } = check(port, door, neverMs);
    running.stop();
    await running.done;
    expect(said).toEqual([]);
  });

  it('refuses a caller without a ticket, or with a used one', async () => {
    const instance = await startInstance(createTickets(), neverMs);
    const ticket = await instance.door.issue();
    const knock = async (value: string) => {
      const socket = connect(instance.port, '127.0.0.1');
      ends.push(() => socket.destroy());
      const headers = `Connection: Upgrade\r\nUpgrade: websocket\r\nX-Relay-Self-Check: ${value}\r\n`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: relay\r\n${headers}\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString('utf8').split('\r\n')[0];
    };
    expect(await knock(ticket)).toContain('101');
    expect(await knock(ticket)).toContain('401');
    expect(await knock('A'.repeat(43))).toContain('401');
    expect(await knock('short')).toContain('401');
    expect(instance.turnedAway).toBe(3);
  });
});
