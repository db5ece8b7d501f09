/** The address of the relay for the camera of a phone, as lines for a terminal. */
import { renderUnicodeCompact } from 'uqr';

const ofThisMachine = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Empty if no other machine can open the address, or if the output is not a terminal. */
export const addressCode = (publicUrl: string, isScreen: boolean): string[] =>
  isScreen && !ofThisMachine.test(new URL(publicUrl).hostname)
    ? [`For a phone:\n\n${renderUnicodeCompact(publicUrl, { border: 2 })}`]
    : [];
