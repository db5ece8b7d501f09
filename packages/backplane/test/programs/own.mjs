// Claims a device over the Redis at this address, as a process with its own trust, and prints the fence, or the error.
import { createRedisBackplane } from '@relay/backplane';

try {
  const backplane = await createRedisBackplane({
    url: process.argv[2],
    name: 'own',
    startTimeoutMs: 5000,
    onError: () => {},
  });
  const { fence } = await backplane.claim('device', 'connection');
  await backplane.close();
  console.log(`fence ${fence}`);
} catch (error) {
  console.log(`${error.code}: ${error.message}`);
}
