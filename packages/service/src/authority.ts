/**
 * The private certificate authority of PostgreSQL and Redis: Node trusts it in addition to the system's, but never
 * reports its expiry.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * The earliest expiry of the certificates in this PEM text, in seconds since 1970. Undefined for a text without
 * certificates. Throws for an invalid certificate.
 */
function firstEnd(pem: string): number | undefined {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const ends = certificates.map((one) => Date.parse(new X509Certificate(one).validTo) / 1000);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

interface AuthorityOptions {
  /** As this process was started with it: a file that has changed since does not count. Default: NODE_EXTRA_CA_CERTS, which is Node's own. */
  readonly file?: string | undefined;
  readonly metrics: { gauge(name: string, help: string): { set(value: number): void } };
  readonly logger: { warn(fields: object, message: string): void };
}

/** Reports when the private authority expires, if one is configured. Logs a warning for an unreadable file. */
export function watchAuthority({ file = process.env.NODE_EXTRA_CA_CERTS, metrics, logger }: AuthorityOptions): void {
  if (!file) return;
  try {
    const end = firstEnd(readFileSync(file, 'utf8'));
    if (end === undefined) throw new Error('there is no certificate in it');
    metrics
      .gauge(
        'relay_authority_ends_timestamp_seconds',
        'When the first certificate of the private authority for PostgreSQL and Redis ends, in seconds since 1970',
      )
      .set(end);
  } catch (err) {
    logger.warn({ err, file }, 'the private authority could not be read (NODE_EXTRA_CA_CERTS)');
  }
}
