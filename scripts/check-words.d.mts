export interface WordProblem {
  /** From 1. */
  line: number;
  words: string;
  advice: string;
}

/** Problems of one text, in the order of the lines. `path` (from the top) decides what counts as prose and what is allowed. */
export function wordProblems(path: string, text: string): WordProblem[];
