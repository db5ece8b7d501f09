/**
 * A proxy between a program and the relay: one address for REST and WebSockets, chosen before the relay starts. Tests
 * can disconnect it, close it, or make it lose an answer. It forwards bytes and records them.
 */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface Front {
  url: string;
  /** Sets the real address of the relay. */
  leadTo(url: string): void;
  /** Stops answering and closes live connections; or answers again. */
  setDown(down: boolean): void;
  /** Closes every live connection. */
  cut(): void;
  /** The next request that starts like this reaches the relay, and its answer is lost. */
  loseAnswer(request: string): void;
  /** How often this text appeared in requests or in the relay's data. */
  count(text: string): number;
  /** Resolves when the text has appeared this often. */
  seen(text: string, times: number): Promise<void>;
  close(): Promise<void>;
}

export async function openFront(): Promise<Front> {
  let target: number | undefined;
  let isDown = false;
  let lost: string | undefined;
  let seen = '';
  const sockets = new Set<Socket>();
  const wakes: (() => void)[] = [];
  const see = (text: string) => {
    seen += text;
    for (const wake of wakes.splice(0)) wake();
  };
  const count = (text: string) => seen.split(text).length - 1;

  const server = createServer((client) => {
    if (isDown || target === undefined) return void client.destroy();
    const relay = connect(target, '127.0.0.1');
    let swallow = false;
    const end = () => {
      client.destroy();
      relay.destroy();
    };
    for (const socket of [client, relay]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      see(text);
      if (lost !== undefined && text.startsWith(lost)) {
        lost = undefined;
        swallow = true;
      }
      relay.write(chunk);
    });
    relay.on('data', (chunk) => {
      if (swallow) return end();
      see(chunk.toString('latin1'));
      client.write(chunk);
    });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => (target = Number(new URL(url).port)),
    setDown(down) {
      isDown = down;
      if (down) cut();
    },
    cut,
    loseAnswer: (request) => (lost = request),
    count,
    async seen(text, times) {
      while (count(text) < times) await new Promise<void>((resolve) => wakes.push(resolve));
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
