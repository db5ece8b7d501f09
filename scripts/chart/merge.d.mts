/** The object that is `without`, and `withIt` where the condition holds. Throws where that takes something away. */
export function merged(without: unknown, withIt: unknown, condition: string): unknown;
