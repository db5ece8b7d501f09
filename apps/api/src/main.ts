/** `npm run api`: one of several instances of the users' door. */
import { setFlagsFromString } from 'node:v8';
import { startBundle } from '@relay/service/start';

// WebAssembly (Prisma's compiler of queries) stays with V8's baseline compiler: optimizing it doubles the work of a start, and Prisma
// compiles each query once. Flags come before the bundle, because V8 keeps compiled code for the same flags only.
setFlagsFromString('--liftoff-only');

startBundle(new URL('./program.cjs', import.meta.url));
