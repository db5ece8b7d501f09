/** The request cannot be done as it was written; the message says what to do. */
export class Refused extends Error {}
