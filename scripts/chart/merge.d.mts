/** The object equals `without`, or `withIt` if the condition holds. Throws if `withIt` lacks something. */
export function merged(without: unknown, withIt: unknown, condition: string): unknown;
