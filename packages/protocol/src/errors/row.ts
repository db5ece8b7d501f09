/** A row of the error catalogue. */
export interface ErrorRow {
  readonly status: number;
  /** For people: what happened, and what to do. The message of the error, on every surface. */
  readonly sentence: string;
  /** For developers of clients; only the reference shows it, after the sentence. */
  readonly note?: string;
  /** A site can replace the sentence: the request gives a fact that the sentence cannot know, such as a field or a limit. */
  readonly detail?: true;
}
