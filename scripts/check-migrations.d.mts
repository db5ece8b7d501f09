/** The problems of one migration, as sentences. Without a name it is judged as a new one. */
export function migrationProblems(sql: string, name?: string): string[];
