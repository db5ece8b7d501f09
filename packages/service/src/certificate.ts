/** Exports the expiry time of the certificate that PUBLIC_URL presents: made by hand, or renewed by a program. */
import { connect } from 'node:tls';

const hourMs = 3_600_000;
const answerMs = 10_000;

/**
 * Returns the expiry time of the certificate at an https address, in seconds since 1970. An expired or untrusted certificate counts, too.
 * Rejects when the TLS handshake takes more than ten seconds.
 */
function certificateExpiry(address: string): Promise<number> {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(port || 443), timeout: answerMs, rejectUnauthorized: false };
    // TLS accepts names only as server names, not addresses.
    const named = /^[\d.]+$|:/.test(host) ? options : { ...options, servername: host };
    const socket = connect(named, () => {
      const seconds = Date.parse(socket.getPeerCertificate().valid_to) / 1000;
      socket.destroy();
      if (Number.isFinite(seconds)) resolve(seconds);
      else reject(new Error('the server presented no certificate'));
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer came in time')));
    socket.once('error', reject);
  });
}

interface CertificateOptions {
  readonly publicUrl: string;
  readonly metrics: { gauge(name: string, help: string): { set(value: number): void } };
  readonly logger: { debug(fields: object, message: string): void };
  /** Between two looks: a renewed certificate shows after this time. Default: an hour. */
  readonly everyMs?: number;
}

/**
 * Sets the gauge `relay_certificate_ends_timestamp_seconds` now and every hour. The last value stays while the address does not answer;
 * a plain http address exports nothing.
 */
export function watchCertificate({ publicUrl, metrics, logger, everyMs = hourMs }: CertificateOptions): {
  stop(): void;
} {
  if (new URL(publicUrl).protocol !== 'https:') return { stop: () => undefined };
  let gauge: { set(value: number): void } | undefined;
  const look = () =>
    certificateExpiry(publicUrl).then(
      (seconds) => {
        gauge ??= metrics.gauge(
          'relay_certificate_ends_timestamp_seconds',
          'When the certificate that PUBLIC_URL presents expires, in seconds since 1970',
        );
        gauge.set(seconds);
      },
      (error: unknown) => logger.debug({ err: error }, 'the certificate of PUBLIC_URL could not be read'),
    );
  void look();
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
