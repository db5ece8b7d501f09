/** A private authority, and a certificate that it signed. Needs `openssl`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './programs.ts';

export interface TestAuthority {
  /** The file that trusts it, in PEM. */
  readonly file: string;
  /** The files of a certificate for one name, and for no address. */
  readonly server: { readonly certificate: string; readonly key: string };
  remove(): void;
}

export function makeAuthority(host = 'localhost', days = 2): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'relay-authority-'));
  const file = (name: string) => join(folder, name);
  const openssl = (words: string) => runProgram('openssl', words.split(' '));
  const newKey = (name: string) => `-newkey rsa:2048 -nodes -keyout ${file(`${name}.key`)}`;
  openssl(`req -x509 ${newKey('ca')} -days ${days} -subj /CN=authority -out ${file('ca.crt')}`);
  const names = `-subj /CN=${host} -addext subjectAltName=DNS:${host}`;
  openssl(`req ${newKey('server')} ${names} -out ${file('server.csr')}`);
  const signed = `-CA ${file('ca.crt')} -CAkey ${file('ca.key')} -days ${days} -copy_extensions copy`;
  openssl(`x509 -req -in ${file('server.csr')} ${signed} -out ${file('server.crt')}`);
  return {
    file: file('ca.crt'),
    server: { certificate: file('server.crt'), key: file('server.key') },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
