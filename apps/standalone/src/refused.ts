/** The request is invalid as written; the message gives advice. */
export class Refused extends Error {}
