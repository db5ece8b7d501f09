/**
 * The certificate authority of this relay: created once, kept in the data folder. A phone that trusts it trusts it for
 * local networks alone:
 * its certificate restricts the names and addresses it can sign.
 */
import {
  type KeyObject,
  X509Certificate as NodeCertificate,
  createPrivateKey,
  randomBytes,
  webcrypto,
} from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { keep, readKept } from '../kept-file.ts';
import { Refused } from '../refused.ts';
import { privateNames, privateNetworks } from './network.ts';

interface Issued {
  /** PEM, the certificate before that of the authority. */
  readonly cert: string;
  readonly key: string;
  readonly endsAt: Date;
}

export interface Authority {
  /** PEM: the public part, which phones and programs trust. */
  readonly certificate: string;
  /** The file with it, for programs of this machine. */
  readonly file: string;
  /** SHA-256 of the certificate, as phones show it. */
  readonly fingerprint: string;
  /** A certificate with a new key for these names and addresses. */
  issue(names: readonly string[]): Promise<Issued>;
}

const keyFile = 'lan-authority.pem';
const certificateFile = 'lan-authority.crt';
const dayMs = 86_400_000;
/** Apple refuses more than 825 days. */
const leafMs = 90 * dayMs;
const authorityMs = 3650 * dayMs;
/** A certificate is replaced this long before it expires. */
export const renewBeforeMs = 30 * dayMs;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const keyText = async (key: webcrypto.CryptoKey) =>
  PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), PemConverter.PrivateKeyTag);
/** Valid since yesterday: the clock of a phone might be late. */
const validFor = (ms: number) => ({
  notBefore: new Date(Date.now() - dayMs),
  notAfter: new Date(Date.now() + ms),
  // Positive, without a zero in front.
  serialNumber: `01${randomBytes(15).toString('hex')}`,
});

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]), content]);
}

/** RFC 5280, 4.2.1.10: permitted are private names and addresses, and nothing else. Critical: a program that cannot read it refuses. */
function nameConstraints(): Extension {
  const names = privateNames.map((name) => der(0x82, Buffer.from(name)));
  const networks = privateNetworks.map(([address, bits]) => {
    const mask = Buffer.alloc(4);
    mask.writeUInt32BE((0xffff_ffff << (32 - bits)) >>> 0);
    return der(0x87, Buffer.from(address.split('.').map(Number)), mask);
  });
  const permitted = [...names, ...networks].map((base) => der(0x30, base));
  return new Extension('2.5.29.30', true, der(0x30, der(0xa0, ...permitted)));
}

async function newAuthority(): Promise<string> {
  const keys = await newKeys();
  // Several relays can be on one phone.
  const machine = hostname()
    .replaceAll(/[^\w.-]/g, '')
    .slice(0, 32);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validFor(authorityMs),
    name: [{ O: ['agent-session-relay'] }, { CN: [`Relay on ${machine} ${randomBytes(2).toString('hex')}`] }],
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      nameConstraints(),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${await keyText(keys.privateKey)}\n${certificate.toString('pem')}`;
}

/**
 * The authority of this data folder; created on first use. Its key is in a file of mode 600, its certificate also in a
 * file beside it.
 * @throws DatabaseError DATA_DIR_UNUSABLE, or Refused if the file is invalid or about to expire; both give advice
 */
export async function keptAuthority(dataDir: string): Promise<Authority> {
  const text = readKept(dataDir, keyFile) ?? keep(dataDir, keyFile, await newAuthority());
  const refused = (why: string, cause?: unknown) =>
    new Refused(
      `${join(dataDir, keyFile)} ${why}. Restore it from a backup; or delete it: then every phone must trust the new authority.`,
      { cause },
    );
  const { key, own } = read(text, refused);
  if (own.notAfter.getTime() < Date.now() + renewBeforeMs)
    throw refused(`expires on ${own.notAfter.toISOString().slice(0, 10)}`);
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    key.export({ format: 'der', type: 'pkcs8' }),
    algorithm,
    false,
    ['sign'],
  );
  const certificate = `${own.toString('pem')}\n`;
  const file = join(dataDir, certificateFile);
  writeFileSync(file, certificate, { mode: 0o644 });

  const issue = async (names: readonly string[]): Promise<Issued> => {
    const keys = await newKeys();
    const validity = validFor(Math.min(leafMs, own.notAfter.getTime() - Date.now()));
    const leaf = await X509CertificateGenerator.create({
      ...validity,
      // No name: programs would take it for one of a host.
      subject: [{ O: ['agent-session-relay'] }, { CN: ['The relay of this network'] }],
      issuer: own.subjectName,
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))),
        await AuthorityKeyIdentifierExtension.create(own.publicKey),
      ],
    });
    const cert = `${leaf.toString('pem')}\n${certificate}`;
    return { cert, key: await keyText(keys.privateKey), endsAt: validity.notAfter };
  };
  return { certificate, file, fingerprint: new NodeCertificate(certificate).fingerprint256, issue };
}

/** Key and certificate of the file. They belong together. */
function read(
  text: string,
  refused: (why: string, cause?: unknown) => Error,
): { key: KeyObject; own: X509Certificate } {
  try {
    const certificate = text.slice(text.indexOf('-----BEGIN CERTIFICATE-----'));
    const key = createPrivateKey(text);
    if (new NodeCertificate(certificate).checkPrivateKey(key)) return { key, own: new X509Certificate(certificate) };
  } catch (error) {
    throw refused('holds no certificate authority', error);
  }
  throw refused('holds a key of another certificate');
}
