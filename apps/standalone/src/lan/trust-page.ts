/** The one page that is served without https: it hands over the certificate that a phone must trust before it can use https. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export const certificatePath = '/relay-authority.crt';

const page = (address: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trust this relay</title>
<style>body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 0 auto; padding: 1rem } li { margin: .5rem 0 }</style>
<h1>Trust this relay</h1>
<p>The relay on this network uses its own certificate. Install it on this device once, and the device trusts it. The certificate is valid for
local networks only: it cannot be used to impersonate a site on the internet.</p>
<ol>
<li><a href="${certificatePath}">Download the certificate</a></li>
<li>Install it:
<ul>
<li><b>iPhone, iPad</b>: Settings › Profile Downloaded › Install; then Settings › General › About › Certificate Trust Settings: turn it on.</li>
<li><b>Android</b>: Settings › Security › Encryption &amp; credentials › Install a certificate › CA certificate; choose the file.</li>
<li><b>Firefox, on Android</b>: besides, Settings › About Firefox, tap the logo five times; back, Secret settings › Use third party CA certificates.</li>
<li><b>A computer</b>: import it into the system or the browser as a certificate authority for websites.</li>
</ul></li>
<li><b>Compare</b> the SHA-256 fingerprint that the device shows with the one in the terminal of the relay. If they differ, remove it.</li>
<li><a href="${address}/">Open the relay</a></li>
</ol>
</html>
`;

/** Answers every request; neither asks for secrets nor reveals any. `address`: the https address of the relay. */
export function trustPage(certificate: string, address: string) {
  const answers = new Map([
    ['/', { type: 'text/html; charset=utf-8', body: page(address) }],
    [certificatePath, { type: 'application/x-x509-ca-cert', body: certificate }],
  ]);
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  };
  return ({ method, url = '' }: IncomingMessage, response: ServerResponse): void => {
    const found = method === 'GET' || method === 'HEAD' ? answers.get(url.split('?', 1)[0] ?? '') : undefined;
    if (found) response.writeHead(200, { ...headers, 'Content-Type': found.type }).end(found.body);
    else response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end(`The relay is at ${address}\n`);
  };
}
