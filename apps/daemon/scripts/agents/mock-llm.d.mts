/** A model that obeys the directives of a message; they are listed in `mock-llm.mjs`. */
export function startMock(): Promise<{ url: string; close(): unknown }>;
