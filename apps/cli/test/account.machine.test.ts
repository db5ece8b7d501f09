import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scene } from './scene.ts';

const stage = scene();

describe('relay account', () => {
  it("S4: exports the relay's data, to the screen or into a new file with owner permissions", async () => {
    const daemon = await stage.daemon('Laptop');
    await stage.session(daemon, 'one', 'Marked title');
    const shown = await stage.own.json(['account', 'export']);
    expect(shown).toMatchObject({ exit: 0, account: { email: stage.person.email }, devices: [{ name: 'Laptop' }] });
    const file = join(mkdtempSync(join(tmpdir(), 'export-')), 'me.json');
    expect(await stage.own.json(['account', '--json', 'export', '--out', file])).toMatchObject({ exit: 0, file });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ sessions: [{ title: 'Marked title' }] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { code, err } = await stage.own.run(['account', 'export', '--out', file]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('exists') });
  });

  it('S4: deletes the account only with --yes, and only after a recent sign-in', async () => {
    const daemon = await stage.daemon('Laptop');
    const { code, err } = await stage.own.run(['account', 'delete']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--yes') });
    const database = stage.world.relay.database;
    const where = { user: { email: stage.person.email } };
    await database.models.login.updateMany({ where, data: { createdAt: new Date(Date.now() - 16 * 60_000) } });
    const old = await stage.own.json(['account', 'delete', '--yes']);
    expect(old).toMatchObject({ exit: 3, code: 'SIGN_IN_NOT_RECENT', error: expect.stringContaining('relay login') });
    await database.models.login.updateMany({ where, data: { createdAt: new Date() } });
    expect(await stage.own.json(['account', 'delete', '--yes'])).toMatchObject({ exit: 0, deleted: true });
    expect(await daemon.closed).toMatchObject({ code: 4404 });
    expect(await stage.own.json(['whoami'])).toMatchObject({ exit: 3 });
    expect(await database.models.user.count({ where: { email: stage.person.email } })).toBe(0);
  });
});
