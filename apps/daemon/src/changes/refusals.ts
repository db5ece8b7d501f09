/** Refusals that do not reveal whether a file exists. */
import { FilesRefused } from '@relay/daemon-kit';

export const missing = () =>
  new FilesRefused('FILE_NOT_FOUND', 'There is no such file, or it lies outside what is shared.');
export const secret = () =>
  new FilesRefused('FILE_HIDDEN', 'This file may hold secrets, so its content stays on the machine.');
