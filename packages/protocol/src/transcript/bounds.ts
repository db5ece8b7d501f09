/** Bounds on the parts of a conversation that are sent. Bytes are bytes of UTF-8. */
export const transcriptLimits = {
  /** A longer text continues in the next item. */
  textBytes: 256 * 1024,
  thoughtBytes: 32 * 1024,
  /** A tool's output keeps its first and last bytes; `left` counts the bytes between them. */
  outputHeadBytes: 4 * 1024,
  outputTailBytes: 12 * 1024,
  inputBytes: 4 * 1024,
  /** All diffs of one item, as JSON. */
  diffBytes: 64 * 1024,
  diffFiles: 50,
  planBytes: 16 * 1024,
  planEntries: 200,
  questionBytes: 64 * 1024,
  places: 100,
  images: 20,
  files: 20,
  fields: 100,
  /** A larger operation is not streamed: one `v` is skipped, and apps ask. */
  operationBytes: 48 * 1024,
  frameBytes: 64 * 1024,
  /** Operations of one frame. */
  operations: 1000,
  /** The whole output of one tool and one image, as a daemon keeps them beside the session. */
  keptOutputBytes: 1024 * 1024,
  keptImageBytes: 5 * 1024 * 1024,
  /** Files that the agent offers in one turn. */
  offeredFiles: 10,
  /** One piece of them in one answer, decoded. */
  pieceBytes: 1024 * 1024,
  pageBytes: 1024 * 1024,
  pageItems: 200,
  /** Questions that one device has open, in one `status`. */
  openPrompts: 1000,
} as const;
