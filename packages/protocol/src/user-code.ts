/** Codes that machines show and people type (rules, 7.4). */

/** The typed text, as far as it can be part of a code: capitals and digits of any width, without everything between them. */
export const foldedCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '');
