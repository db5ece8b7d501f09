/** `npm run api`: one of several instances of the users' door. */
import { startBundle } from '@relay/service/start';

startBundle(new URL('./program.cjs', import.meta.url));
