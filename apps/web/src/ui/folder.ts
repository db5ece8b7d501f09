/** The last part of a path: how people call a project. */
export const folderOf = (path: string): string => path.split(/[\\/]/).filter(Boolean).at(-1) ?? '';
