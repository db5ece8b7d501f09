/** Files of people for an agent: they go through the relay in pieces to the daemon, and are stored there alone (rules, chapter 27). */
import { type Static, Type, count, flag, id, limits, maybe, record, text } from '../schema.ts';

export const fileLimits = {
  /** The number of files in one message. */
  files: 10,
  fileBytes: 25 * 1024 * 1024,
  /** All files of a message. */
  messageBytes: 100 * 1024 * 1024,
  /** One request, and one frame to the daemon, decoded. */
  pieceBytes: 1024 * 1024,
} as const;

const fileId = (description: string) => text(description, { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', maxLength: 26 });
const fileIds = maybe(
  Type.Array(fileId('A file'), {
    description: 'Files for the agent, which the daemon has received; together at most 100 MiB',
    maxItems: fileLimits.files,
  }),
);

const imageUrl = text('`data:image/png;base64,…`; png, jpeg, gif or webp, at most 5 MiB when decoded', {
  maxLength: limits.imageRequestBytes,
});
/** Attachments of a message. */
export const attached = {
  images: maybe(
    Type.Array(imageUrl, {
      description:
        'Images for the agent, with the text; at most 8, and 10 MiB in total. Only for a device with `images` among its `capabilities`',
      maxItems: limits.images,
    }),
  ),
  files: fileIds,
};

export const fileSize = Type.Integer({ description: 'Size in bytes; at most 25 MiB', minimum: 0 });
export const fileName = text('Its name; the daemon makes a safe name of it', {
  minLength: 1,
  maxLength: limits.lineCharacters,
});
export const fileMime = maybe(text('Media type, a hint', { maxLength: 255 }));
export const receivedBytes = count('Bytes that the daemon has received: the offset of the next piece');

export const SendFile = record('SendFile', 'A file for a device, before its first piece.', {
  fileId: fileId('A ULID made by the app, new for each file'),
  name: fileName,
  size: fileSize,
  mime: fileMime,
});

export const FileState = record('FileState', 'The part of a file that its device has.', {
  fileId: id('The file'),
  received: receivedBytes,
  done: flag('The device has the whole file'),
  name: maybe(text('The name on the device')),
  sha256: maybe(text('SHA-256 of the whole file in hex', { maxLength: 64 })),
});

export type SendFile = Static<typeof SendFile>;
export type FileState = Static<typeof FileState>;
