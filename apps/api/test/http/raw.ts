/** Raw HTTP, for requests that no client library would send. */
import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends the bytes and returns the whole answer once the other side closes. */
export async function sendBytes(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const line = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  line.on('data', (chunk: Buffer) => chunks.push(chunk));
  line.on('error', () => undefined);
  line.write(bytes);
  await once(line, 'close');
  return Buffer.concat(chunks).toString('utf8');
}
