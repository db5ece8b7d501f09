/** The files of a message that is being written, as the composer uses them. */
export interface FilesHandle {
  add: (files: Iterable<File>) => void;
  /** Resolves with their ids once the machine has all of them; rejects with the refusal of the first refused file. */
  ready: () => Promise<string[]>;
  /** Forgets files that went with a message. */
  sent: (ids: readonly string[]) => void;
}
