import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, saveProgress } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('progress that is saved', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('d') });
    const session = {
      key: 's',
      ownerId: 'user-1',
      deviceId: 'd',
      agentType: 'claude',
      nativeId: 'native',
      status: 'active',
    };
    await database.models.session.create({ data: session });
    const base = { sessionKey: 's', deviceId: 'd', ownerId: 'user-1', kind: 'resume', instruction: '' };
    const expiresAt = new Date(Date.now() + 60_000);
    await database.models.task.create({ data: { ...base, id: 'over', state: 'completed', expiresAt } });
    await database.models.task.create({ data: { ...base, id: 'now', state: 'running', expiresAt } });
  });
  afterAll(() => database.close());

  const reading = (target: string) => ({ action: 'Reading', target, at: new Date(0).toISOString() });
  const saved = async () => (await database.models.session.findUniqueOrThrow({ where: { key: 's' } })).progress;

  it('belongs to the task that runs, not to the one before it', async () => {
    await saveProgress(database, [{ key: 's', taskId: 'over', progress: reading('old.ts') }]);
    expect(await saved()).toBeNull();
    await saveProgress(database, [{ key: 's', taskId: 'now', progress: reading('new.ts') }]);
    expect(await saved()).toEqual(reading('new.ts'));
  });

  it('is not replaced after the session stopped', async () => {
    await database.models.session.update({ where: { key: 's' }, data: { status: 'idle' } });
    await saveProgress(database, [{ key: 's', taskId: 'now', progress: reading('late.ts') }]);
    expect(await saved()).toEqual(reading('new.ts'));
  });
});
