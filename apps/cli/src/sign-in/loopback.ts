/** Redirect target for the browser (RFC 8252 §7.3): a server on 127.0.0.1 for one sign-in. It accepts only callbacks with its state. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure, reasonOf, systemCode } from '@relay/machine';
import { usage } from '../failure.ts';

export interface Loopback {
  redirectUri: string;
  /** Resolves with the parameters of the callback with this state; other requests are refused, and the wait continues. */
  answer: Promise<URLSearchParams>;
  /** Shows the outcome to the user and stops listening. */
  end(shown: { title: string; text: string }): Promise<void>;
}

const path = '/callback';

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const page = (title: string, text: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</html>
`;

function show(response: ServerResponse, status: number, title: string, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      // The address of this page holds a code.
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      Connection: 'close',
    })
    .end(page(title, text));
}

/** Listens on `port` (0 = any free port). @throws Failure if the port is in use */
export async function listenForAnswer(state: string, port: number): Promise<Loopback> {
  let took: ((parameters: URLSearchParams) => void) | undefined;
  const answer = new Promise<URLSearchParams>((resolve) => (took = resolve));
  let waiting: ServerResponse | undefined;

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // Parsed as text: a stranger's request target can be an invalid URL, such as `//`.
    const [, requestPath, query] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '') ?? [];
    if (request.method !== 'GET' || requestPath !== path) {
      show(response, 404, 'Nothing here', 'This page belongs to a sign-in of the relay command line.');
      return;
    }
    const parameters = new URLSearchParams(query);
    if (waiting || parameters.get('state') !== state || parameters.getAll('state').length > 1) {
      show(response, 400, 'Not this sign-in', 'This answer belongs to another sign-in.');
      return;
    }
    waiting = response;
    took?.(parameters);
  };

  const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 }, onRequest);
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') throw usage(`Port ${port} is taken. Choose another one with --port.`);
    throw new Failure('NO_LOOPBACK', `Cannot listen on 127.0.0.1 (${reasonOf(error)}), which the browser must reach.`);
  }
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    answer,
    async end({ title, text }) {
      const closed = once(server, 'close');
      if (waiting && !waiting.destroyed) {
        const shown = once(waiting, 'close');
        show(waiting, 200, title, text);
        await shown;
      }
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
