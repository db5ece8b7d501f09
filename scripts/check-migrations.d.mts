/** The problems of one migration, as sentences. Without a name it counts as a new one. */
export function migrationProblems(sql: string, name?: string): string[];
