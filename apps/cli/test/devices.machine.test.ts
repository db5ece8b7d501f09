import { describe, expect, it } from '@jest/globals';
import { scene } from './scene.ts';

const stage = scene();

describe('relay devices', () => {
  it('prints the next step if the list is empty', async () => {
    expect(await stage.own.run(['devices'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('relay-daemon register'),
    });
    expect(await stage.own.json(['devices'])).toEqual({ exit: 0, devices: [] });
  });

  it("lists them as a table without colours, and as the relay's JSON", async () => {
    const daemon = await stage.daemon('Büro 電腦');
    const { code, out, err } = await stage.own.run(['devices']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [head, row] = out.trimEnd().split('\n');
    expect(head).toMatch(/^NAME +STATUS +AGENT +SEEN +ID$/);
    expect(row).toMatch(/^Büro 電腦 +online +scripted +now +\S+$/);
    // Each wide character takes two columns.
    expect(row!.indexOf('online')).toBe(head!.indexOf('STATUS') - 2);
    expect(out).not.toContain('\u001b');
    expect((await stage.own.json(['devices'])).devices).toEqual([
      expect.objectContaining({ id: daemon.deviceId, name: 'Büro 電腦', status: 'online' }),
    ]);
  });

  it('escapes names for the screen', async () => {
    // The relay refuses such a name today (S16); an older release accepted it.
    const { deviceId: id } = await stage.daemon('evil');
    const name = 'evil\u001b]0;title\u0007\u001b[2Jname\nx';
    await stage.world.relay.database.models.device.update({ where: { id }, data: { name } });
    const { out } = await stage.own.run(['devices']);
    expect(out).toContain('\\u001b[2Jname');
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('shows one device with its connections, by id, name, or a part of either', async () => {
    const daemon = await stage.daemon('Laptop');
    await stage.daemon('Desktop');
    for (const name of ['laptop', 'LAP', 'apt', daemon.deviceId, daemon.deviceId.slice(-8)]) {
      expect(await stage.own.json(['devices', 'show', name])).toMatchObject({
        exit: 0,
        id: daemon.deviceId,
        connections: [{ daemonVersion: '1.0.0' }],
      });
    }
    const { out } = await stage.own.run(['devices', 'show', 'laptop']);
    expect(out).toMatch(/Name: +Laptop\n/);
    expect(out).toMatch(/CONNECTED +UNTIL/);
  });

  it('F17: reports that two machines use one registration, their names, and the remedy', async () => {
    const { deviceId: id } = await stage.daemon('shared');
    const until = new Date(Date.now() + 60_000).toISOString();
    const machine = { address: '192.0.2.1', daemonVersion: '1.0.0' };
    const conflict = {
      machines: [
        { hostname: 'laptop', ...machine },
        { hostname: 'restored', ...machine },
      ],
      since: '2026-11-20T09:00:00.000Z',
      step: 0,
      heldUntil: until,
      until,
    };
    await stage.world.relay.database.models.device.update({ where: { id }, data: { conflict } });
    const sentence =
      'Two machines use the registration of "shared" (laptop 192.0.2.1, restored 192.0.2.1): run "relay-daemon register --force" on one of them.\n';
    for (const command of [['devices'], ['devices', 'show', 'shared']])
      expect((await stage.own.run(command)).out).toContain(sentence);
  });

  it('lists the matches of an ambiguous abbreviation', async () => {
    await stage.daemon('build-1');
    await stage.daemon('build-2');
    const { code, err } = await stage.own.run(['devices', 'show', 'build']);
    expect(code).toBe(2);
    expect(err).toMatch(/"build" matches 2 devices: build-\d \(\S+\), build-\d/);
    expect(await stage.own.json(['devices', 'show', 'nothing'])).toMatchObject({ exit: 4, code: 'DEVICE_NOT_FOUND' });
    expect((await stage.own.json(['devices', 'show', ''])).exit).toBe(4);
  });

  it('renames a device', async () => {
    await stage.daemon('old');
    expect(await stage.own.json(['devices', 'rename', 'old', 'new'])).toMatchObject({ exit: 0, name: 'new' });
    expect((await stage.own.run(['devices'])).out).toContain('new');
    expect((await stage.own.json(['devices', 'rename', 'new', ' '])).exit).toBe(2);
  });

  it('removes a device only with --yes', async () => {
    const daemon = await stage.daemon('gone');
    const { code, err } = await stage.own.run(['devices', 'remove', 'gone']);
    expect(code).toBe(2);
    expect(err).toContain('--yes');
    expect(await stage.own.json(['devices', '--json', 'remove', 'gone', '--yes'])).toEqual({
      exit: 0,
      id: daemon.deviceId,
      removed: true,
    });
    expect(await daemon.closed).toMatchObject({ code: 4404 });
    expect(await stage.own.json(['devices', 'show', daemon.deviceId])).toMatchObject({ exit: 4 });
  });

  it('creates a registration key, lists it, and revokes it', async () => {
    const made = await stage.own.run(['devices', 'invite', '--ttl', '2h', '--uses', '5', '--name', 'Build machines']);
    expect(made).toMatchObject({ code: 0, err: '' });
    const [, key] = /RELAY_DAEMON_KEY=(rly_key_[\w-]{43}) relay-daemon register --server http/.exec(made.out) ?? [];
    const { keys } = (await stage.own.json(['devices', 'keys'])) as unknown as { keys: { id: string }[] };
    expect(keys).toEqual([expect.objectContaining({ name: 'Build machines', uses: 5, used: 0 })]);
    const { out } = await stage.own.run(['devices', 'keys']);
    expect(out).toMatch(/Build machines +0 of 5/);
    expect(out).not.toContain(key!);
    expect(await stage.own.run(['devices', 'revoke-key', keys[0]!.id])).toMatchObject({ code: 0 });
    expect(await stage.own.run(['devices', 'revoke-key', keys[0]!.id])).toMatchObject({ code: 4 });
    expect((await stage.own.run(['devices', 'keys'])).out).toContain('relay devices invite');
  });

  it('creates a token for an ACP client, lists it, and revokes it', async () => {
    const { deviceId } = await stage.daemon('Phoned');
    const made = await stage.own.run(['acp-token', deviceId, '--name', 'My phone', '--read-only']);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain(`/acp/${deviceId}\n`);
    const [token] = /rly_acp_[\w-]{43}/.exec(made.out) ?? [];
    const { tokens } = (await stage.own.json(['acp-token', 'list'])) as unknown as { tokens: { id: string }[] };
    expect(tokens).toEqual([expect.objectContaining({ deviceId, name: 'My phone', scopes: ['sessions:read'] })]);
    const { out } = await stage.own.run(['acp-token', 'list']);
    expect(out).toMatch(/My phone .* read +never/);
    expect(out).not.toContain(token!);
    expect(await stage.own.run(['acp-token', 'revoke', tokens[0]!.id])).toMatchObject({ code: 0 });
    expect(await stage.own.run(['acp-token', 'revoke', tokens[0]!.id])).toMatchObject({ code: 4 });
    expect((await stage.own.run(['acp-token', 'list'])).out).toContain('relay acp-token <device>');
    expect(await stage.own.run(['acp-token'])).toMatchObject({ code: 2 });
  });

  it.each([
    ['--ttl', '10'],
    ['--ttl', '31d'],
    ['--ttl', '30s'],
    ['--uses', '0'],
    ['--uses', '1001'],
    ['--uses', 'many'],
  ])('refuses %s %s for a key', async (option, value) => {
    expect(await stage.own.run(['devices', 'invite', option, value])).toMatchObject({
      code: 2,
      err: expect.stringContaining(option),
    });
  });
});
