/** `npm run gateway`: one of several instances of the daemons' door. */
import { startBundle } from '@relay/service/start';

startBundle(new URL('./program.cjs', import.meta.url));
