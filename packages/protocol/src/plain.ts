/** The part of the protocol that clients need at run time: data without schemas. Everything else they take as types. */
export * from './close-codes.ts';
export * from './endpoints.ts';
