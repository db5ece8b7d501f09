/** `/`: to the conversations, or to the first machine. */
import { Redirect } from 'wouter';
import { words } from '../catalogue.ts';
import { useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';

export function Start() {
  const devices = useDevices();
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
