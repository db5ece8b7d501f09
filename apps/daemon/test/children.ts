/** Real processes in tests: detects that one runs, and that it is gone. */
import { type AddressInfo, type Socket, createServer } from 'node:net';

/**
 * A server to which processes announce themselves with `program(name)`. Their socket closes when they die for any
 * reason. This also works where dead processes stay in the table because no parent reaps them.
 */
export async function lifeLines() {
  const alive = new Map<string, Socket>();
  let wakes: (() => void)[] = [];
  const changed = () => {
    const woken = wakes;
    wakes = [];
    for (const wake of woken) wake();
  };
  const server = createServer((socket) => {
    let name = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      name += chunk.toString();
      alive.set(name, socket);
      changed();
    });
    socket.on('close', () => {
      alive.delete(name);
      changed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const until = async (is: () => boolean) => {
    while (!is()) await new Promise<void>((resolve) => wakes.push(resolve));
  };
  return {
    /** JavaScript that announces the process and keeps it running. */
    announce: (name: string) => `require('net').connect(${port}, '127.0.0.1').write(${JSON.stringify(name)});`,
    born: (name: string) => until(() => alive.has(name)),
    gone: (name: string) => until(() => !alive.has(name)),
    async close() {
      for (const socket of alive.values()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
