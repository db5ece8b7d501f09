/** Replaced phrases in one text. */
export function gonePhrases(text: string): string[];
