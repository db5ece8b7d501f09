/** The texts of an error code. */
export interface ErrorText {
  /** The message of the error on every surface: the event and the remedy, for people. */
  readonly sentence: string;
  /** Facts for developers of clients. Only the reference shows them, after the sentence. */
  readonly note?: string;
}

/** A row of the error catalogue. */
export interface ErrorRow extends ErrorText {
  readonly status: number;
  /** A site can replace the sentence: the request gives a fact that the sentence cannot know, such as a field or a limit. */
  readonly detail?: true;
}
