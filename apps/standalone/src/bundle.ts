/** Loads the bundle of `programs.ts` with its compiled code. */
import { setFlagsFromString } from 'node:v8';
import { startBundle } from '@relay/service/start';
import type * as programs from './programs.ts';

export function loadPrograms(): typeof programs {
  // WebAssembly (the embedded PostgreSQL) stays with V8's baseline compiler. Optimizing a few huge functions costs 60 to 100 MB
  // that are never given back, and doubles the work of a start; small statements take a tenth longer without, large ones a
  // third (docs/performance.md). Flags come before the bundle, because V8 keeps compiled code for the same flags only.
  setFlagsFromString('--liftoff-only');
  return startBundle(new URL('./program.cjs', import.meta.url)) as typeof programs;
}
