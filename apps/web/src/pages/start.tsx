/** `/`: to the conversations, or to the first machine. */
import { Redirect } from 'wouter';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';

export function Start() {
  const { client } = useRooms();
  const devices = useResource('', async () => (await client.call('listDevices')).devices);
  if (devices.kind === 'ready')
    return <Redirect to={devices.value.length > 0 ? '/sessions' : '/devices/new'} replace />;
  return (
    <Page title="Relay" narrow>
      <Loaded of={devices} what={words.common.loadingMachines}>
        {() => null}
      </Loaded>
    </Page>
  );
}
