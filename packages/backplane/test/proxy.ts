/** A way to Redis that a test can stop: connections stay open and nothing comes through, as with a peer that vanished. */
import net from 'node:net';

export interface Proxy {
  readonly url: string;
  /** Holds back everything from Redis to connected clients; new connections are not affected. */
  stall(): void;
  /** The bytes that were held back come through. */
  resume(): void;
  close(): Promise<void>;
}

export async function openProxy(port: number): Promise<Proxy> {
  const pairs = new Set<{ near: net.Socket; far: net.Socket }>();
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    const pair = { near, far };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stalled = new Set<{ near: net.Socket; far: net.Socket }>();
  return {
    url: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    stall: () => {
      for (const pair of pairs) {
        stalled.add(pair);
        pair.far.unpipe(pair.near);
      }
    },
    resume: () => {
      for (const pair of stalled) pair.far.pipe(pair.near);
      stalled.clear();
    },
    close: async () => {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
