// Opens the embedded database in the folder of the first argument and writes devices until it is killed. Prints the id
// of each after the database has acknowledged it. Writes every device together with one connection of it.
import { openDatabase } from '../../dist/index.js';

const [, , dataDir, round] = process.argv;
const database = await openDatabase({ dataDir });
for (let n = 0; ; n += 1) {
  const id = `${round}-${n}`;
  const tokenHash = `hash-${id}`;
  await database.models.$transaction(async (tx) => {
    await tx.device.create({ data: { id, ownerId: 'u', name: 'n', hostname: 'h', agentType: 'a', tokenHash } });
    await tx.deviceConnection.create({ data: { id: `c-${id}`, deviceId: id, fence: 1n, instance: 'i' } });
  });
  console.log(id);
}
