/** A row of the error catalogue. */
export interface ErrorRow {
  readonly status: number;
  /** The message of the error on every surface: the event and the remedy, for people. */
  readonly sentence: string;
  /** Facts for developers of clients. Only the reference shows them, after the sentence. */
  readonly note?: string;
  /** A site can replace the sentence: the request gives a fact that the sentence cannot know, such as a field or a limit. */
  readonly detail?: true;
}
