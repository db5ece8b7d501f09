/** Promise: an instance reports when the first certificate of its private authority expires. */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { watchAuthority } from '../src/authority.ts';

describe('the private authority', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-authority-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const ends = (pem: string) => Date.parse(new X509Certificate(pem).validTo) / 1000;
  /** Two certificates with different expiry, the later one first. */
  const [later = '', sooner = ''] = [...rootCertificates].slice(0, 2).sort((one, other) => ends(other) - ends(one));

  const watched = async (text?: string) => {
    const file = join(folder, text === undefined ? 'missing' : 'ca.crt');
    if (text !== undefined) await writeFile(file, text);
    const said = { values: [] as number[], warnings: [] as string[] };
    watchAuthority({
      file,
      metrics: { gauge: () => ({ set: (value) => void said.values.push(value) }) },
      logger: { warn: (_, message) => void said.warnings.push(message) },
    });
    return said;
  };

  it('expires with its first certificate, in any order', async () => {
    expect(ends(sooner)).toBeLessThan(ends(later));
    for (const text of [`${later}\n${sooner}\n`, `# of the team\n${sooner}\n${later}\n`])
      expect(await watched(text)).toEqual({ values: [ends(sooner)], warnings: [] });
  });

  it.each([
    ['is not there', undefined],
    ['has no certificate', 'check'],
    ['has a broken one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('is a warning where its file %s', async (_, text) => {
    expect(await watched(text)).toEqual({ values: [], warnings: [expect.stringContaining('NODE_EXTRA_CA_CERTS')] });
  });

  it('does nothing without a file', () => {
    const unused = () => {
      throw new Error('there is nothing to tell');
    };
    expect(() => watchAuthority({ file: '', metrics: { gauge: unused }, logger: { warn: unused } })).not.toThrow();
  });
});
