/** The images of a message that is being written. */

export interface Attached {
  name: string;
  bytes: number;
  /** The image for the message. */
  dataUrl: string;
  /** The address of the displayed image; also its identity. */
  previewUrl: string;
}

export interface Images {
  all: readonly Attached[];
  /** Why the last one was not taken. */
  problem: string | undefined;
  /** `machine`: the machine that takes no other files. */
  add: (files: Iterable<File>, machine?: string) => void;
  /** `add` takes files of any kind. */
  any?: boolean;
  remove: (image: Attached) => void;
  /** Removes the sent images; images attached since then stay. */
  sent: (images: readonly Attached[]) => void;
}

export interface AttachedProps {
  images: Images;
  onRemoved?: () => void;
}
