/** Problems of one subject, as sentences. `rooms` are scopes in addition to those that cross rooms. */
export function subjectProblems(subject: string, rooms?: readonly string[]): string[];

/** The names of rooms: folders of the top, and of apps and packages. */
export function roomsOf(paths: readonly string[]): string[];
