/** A device with passkeys (WebAuthn): acts like a phone with a fingerprint reader. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Browser } from './browser.ts';
import type { Answer } from './rest.ts';

const base64url = (bytes: Buffer) => bytes.toString('base64url');
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest();

/** CBOR (RFC 8949) of a text of up to 23 bytes, and of 24 to 255 bytes. */
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
const cborBytes = (bytes: Buffer) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);

interface Conduct {
  /** Whether the device checked the person; true unless given. */
  checksPerson?: boolean;
  /** Where the page that asks seems to be. */
  origin?: string;
}

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #uses = 0;

  /** The key as COSE writes it: EC2, ES256, P-256. */
  get #cose(): Buffer {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' }) as { x: string; y: string };
    const [bytesX, bytesY] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      ...[cborBytes(bytesX), Buffer.from([0x22]), cborBytes(bytesY)],
    ]);
  }

  #data(host: string, checksPerson: boolean, attested: Buffer | undefined): Buffer {
    const uses = Buffer.alloc(4);
    uses.writeUInt32BE((this.#uses += 1));
    const flags = 0x01 | (checksPerson ? 0x04 : 0) | (attested ? 0x40 : 0);
    return Buffer.concat([sha256(host), Buffer.from([flags]), uses, attested ?? Buffer.alloc(0)]);
  }

  #client(browser: Browser, type: string, challenge: string, { origin = browser.origin }: Conduct): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  /** Adds a passkey for the person who is signed in. */
  async register(browser: Browser, name = 'Phone', conduct: Conduct = {}): Promise<Answer> {
    const options = await browser.send('GET', '/auth/passkey/generate-register-options');
    if (options.status !== 200) return options;
    const { challenge, rp } = options.body as { challenge: string; rp: { id: string } };
    const client = this.#client(browser, 'webauthn.create', challenge, conduct);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, this.#cose]);
    const data = this.#data(rp.id, conduct.checksPerson ?? true, attested);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0])],
      ...[cborText('authData'), cborBytes(data)],
    ]);
    const response = {
      ...{ id: base64url(this.id), rawId: base64url(this.id), type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: base64url(client),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      },
    };
    return browser.send('POST', '/auth/passkey/verify-registration', { body: { response, name } });
  }

  /** Signs its person in. `more`: further fields of the body. */
  async signIn(browser: Browser, conduct: Conduct = {}, more: object = {}): Promise<Answer> {
    const options = await browser.send('GET', '/auth/passkey/generate-authenticate-options');
    const { challenge, rpId } = options.body as { challenge: string; rpId: string };
    const response = this.answer(browser, challenge, rpId, conduct);
    return browser.send('POST', '/auth/passkey/verify-authentication', { body: { response, ...more } });
  }

  /** Its answer to a challenge. */
  answer(browser: Browser, challenge: string, host: string, conduct: Conduct = {}): object {
    const client = this.#client(browser, 'webauthn.get', challenge, conduct);
    const data = this.#data(host, conduct.checksPerson ?? true, undefined);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#keys.privateKey);
    return {
      ...{ id: base64url(this.id), rawId: base64url(this.id), type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      },
    };
  }
}
