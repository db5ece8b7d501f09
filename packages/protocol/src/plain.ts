/** The part of the protocol that clients need at run time: data without schemas, and what operations do to items. Everything else they take as types. */
export * from './close-codes.ts';
export * from './endpoints.ts';
export * from './transcript/apply.ts';
