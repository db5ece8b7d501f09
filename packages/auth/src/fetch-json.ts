/** Fetches a small public document of a sign-in service, and trusts nothing about how it answers. */
import { isTrustedTransport } from './issuer-config.ts';

const maxBytes = 256 * 1024;
const maxRedirects = 3;

interface FetchJsonOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Limit for the whole exchange, including redirects and body. */
  readonly timeoutMs: number;
}

async function boundedText(response: Response): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    // Counted after decompression, where a small answer can become a large one. Leaving the loop cancels the rest.
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The JSON object at `address`: https or http on loopback, at most 256 KiB, at most three redirects within the same origin.
 *
 * @throws Error with a reason for the log: transport, status, size, JSON, or that time is up.
 */
export async function fetchJson(address: string, options: FetchJsonOptions): Promise<Record<string, unknown>> {
  if (!isTrustedTransport(address)) throw new Error('the address is neither https nor http on this machine');
  const signal = AbortSignal.timeout(options.timeoutMs);
  let url = new URL(address);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const response = await options.fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== url.origin) throw new Error(`it redirects to another origin (${next.origin})`);
      url = next;
      continue;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answers with status ${response.status}`);
    }
    const value: unknown = JSON.parse(await boundedText(response));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object');
    return value as Record<string, unknown>;
  }
  throw new Error('it redirects too often');
}
