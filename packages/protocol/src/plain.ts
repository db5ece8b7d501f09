/** The part of the protocol that clients need at run time: data without schemas, and the application of operations to items. Everything else they import as types. */
export * from './close-codes.ts';
export * from './endpoints.ts';
export * from './transcript/apply.ts';
