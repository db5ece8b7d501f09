/** The parts of a machine that its programs share: files, locks, folders, the terminal, and HTTP through its proxy. */
export { Failure, reasonOf, systemCode } from './failure.ts';
export {
  homeFolder,
  makePrivateFolder,
  readIfPresent,
  readOwnerFile,
  replaceOwnerFile,
  syncFolder,
  xdgFolder,
} from './files.ts';
export { type HttpAnswer, exchange, fetchWithin, unreachable } from './http.ts';
export { type Lock, LockHeld, isLockFile, lockAddress, lockHolder, takeLock } from './lock.ts';
export { type Streams, type Terminal, runProgram, terminalOn } from './terminal.ts';
