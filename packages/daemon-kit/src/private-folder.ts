/** A folder of the daemon, which only its owner can write to. */
import { makePrivateFolder as makeFolder } from '@relay/machine';
import { exitCodes } from './exit-codes.ts';

/** Creates the folder if it is absent. @throws Failure HOME_UNUSABLE, HOME_UNSAFE */
export const makePrivateFolder = (folder: string): void => makeFolder(folder, '--home', exitCodes.config);
