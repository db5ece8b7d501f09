/** `--file`: files of a message, sent to the device before the message. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { newFileId } from '@relay/client';
import { fileLimits } from '@relay/protocol';
import { reasonOf, systemCode } from '@relay/machine';
import { usage } from '../failure.ts';
import type { Relay } from '../relay.ts';
import { oneLine } from '../show/text.ts';

export interface FileOptions {
  file?: readonly string[];
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
const named = (file: string) => `"${oneLine(basename(file))}"`;

/** Sends the files, and returns the field of the request; an empty object without files. @throws Failure BAD_USAGE, and errors of the relay */
export async function filesOf(
  relay: Relay,
  deviceId: string,
  { file: paths = [] }: FileOptions,
): Promise<{ files?: string[] }> {
  if (paths.length === 0) return {};
  if (paths.length > fileLimits.files) throw usage(`${fileLimits.files} files at most.`);
  const opened: { path: string; handle: FileHandle; size: number }[] = [];
  try {
    for (const path of paths) {
      const handle = await open(path).catch((error: unknown) => {
        const why = systemCode(error) === 'ENOENT' ? 'there is no such file' : reasonOf(error);
        throw usage(`${named(path)} cannot be read: ${why}.`);
      });
      const facts = await handle.stat();
      opened.push({ path, handle, size: facts.size });
      if (!facts.isFile()) throw usage(`${named(path)} is no file.`);
      if (facts.size > fileLimits.fileBytes)
        throw usage(`${named(path)} is ${megabytes(facts.size)}. Files can be ${megabytes(fileLimits.fileBytes)}.`);
    }
    const total = opened.reduce((sum, { size }) => sum + size, 0);
    if (total > fileLimits.messageBytes)
      throw usage(`The files of a message can be ${megabytes(fileLimits.messageBytes)} in total.`);
    const files: string[] = [];
    for (const { path, handle, size } of opened) {
      const id = newFileId();
      const read = async (offset: number, length: number) => {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
        if (bytesRead < length) throw usage(`${named(path)} changed while it was sent. Send it again.`);
        return buffer;
      };
      await relay.sendFile(deviceId, { id, name: basename(path), size, read });
      files.push(id);
    }
    return { files };
  } finally {
    for (const { handle } of opened) await handle.close();
  }
}
