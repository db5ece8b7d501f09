/** The folders that apps can browse: inside the allowed ones, and through the daemon of the kit. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserOf } from '../src/agents/folders.ts';
import { echo, house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const world = () => {
  const root = home.folder();
  const place = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const [code, outside] = [place('code'), place('outside')];
  for (const name of ['app10', 'app9', 'Beta', '.hidden', 'keys', 'beta/deep']) place(join('code', name));
  writeFileSync(join(code, 'a-file'), '');
  symlinkSync(outside, join(code, 'escape'));
  symlinkSync(join(code, 'beta'), join(code, 'link'));
  symlinkSync(join(code, 'nothing'), join(code, 'broken'));
  return { root, code, outside, rules: { defaultPath: code, allowed: [code], closed: [join(code, 'keys')] } };
};
const names = (found: { folders: { name: string }[] } | undefined) => found?.folders.map(({ name }) => name);

describe('browsing the folders of a machine', () => {
  it('lists folders and links to folders, by name with hidden ones last, and no key folder, file or link to the outside', async () => {
    const { code, rules } = world();
    const found = await browserOf(rules)('');
    expect(names(found)).toEqual(['app9', 'app10', 'beta', 'Beta', 'link', '.hidden']);
    expect(found).toMatchObject({ path: code });
    expect(found).not.toHaveProperty('parent');
  });

  it('leads into a folder and back to the top, and no further', async () => {
    const { root, code, outside, rules } = world();
    const browse = browserOf(rules);
    expect(await browse(join(code, 'beta'))).toEqual({
      path: join(code, 'beta'),
      parent: code,
      folders: [{ name: 'deep', path: join(code, 'beta', 'deep') }],
    });
    for (const path of [root, outside, join(code, 'escape'), join(code, 'keys'), join(code, 'a-file'), '/no/such', 'x'])
      expect(await browse(path)).toBeUndefined();
    expect(await browse(`${code}/beta/../../outside`)).toBeUndefined();
  });

  it('starts with the allowed folders if there are several', async () => {
    const { code, outside, rules } = world();
    const browse = browserOf({ ...rules, allowed: [code, outside, join(code, 'beta')] });
    expect(await browse('')).toEqual({ folders: [code, outside].map((path) => ({ name: path, path })) });
    expect(await browse(outside)).toEqual({ path: outside, parent: '', folders: [] });
  });

  it('lists 500 of more, and reports that there are more', async () => {
    const { code, rules } = world();
    for (let n = 0; n < 501; n++) mkdirSync(join(code, 'beta', `folder-${n}`));
    const found = await browserOf(rules)(join(code, 'beta'));
    expect([found?.folders.length, found?.more]).toEqual([500, true]);
  });
});

describe('the daemon', () => {
  it('answers get_folders if browsing is allowed, and declares the capability', async () => {
    const { code, rules } = world();
    const relay = await home.relay();
    home.daemon(relay, echo(), { browse: browserOf(rules) });
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).toContain('browse');
    const ask = async (path: string) => {
      connection.send({ type: 'get_folders', request_id: path, path });
      return connection.frame('folders');
    };
    expect(await ask(join(code, 'beta'))).toMatchObject({
      request_id: join(code, 'beta'),
      path: join(code, 'beta'),
      parent: code,
    });
    expect(await ask('/etc')).toMatchObject({ code: 'FOLDER_NOT_FOUND' });
  });

  it('refuses get_folders if browsing is not allowed', async () => {
    const relay = await home.relay();
    home.daemon(relay, echo());
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).not.toContain('browse');
    connection.send({ type: 'get_folders', request_id: 'r', path: '' });
    expect(await connection.frame('folders')).toMatchObject({ error: expect.any(String) });
  });
});
