/** Maps paths between the client's machine and the device: the same folder can have another name on each. */

export interface Mapping {
  /** A folder on the machine of the client. */
  local: string;
  /** The same folder on the device. */
  remote: string;
}

export interface Paths {
  toRemote(path: string): string;
  toLocal(path: string): string;
}

const trimmed = (path: string) => (path.length > 1 ? path.replace(/[/\\]+$/, '') : path);

/** Returns the path on the other machine; undefined if no mapped folder contains it. */
function moved(path: string, from: string, to: string): string | undefined {
  const folder = trimmed(from);
  if (path === folder || trimmed(path) === folder) return trimmed(to);
  const below = folder === '/' ? folder : path.startsWith(`${folder}\\`) ? `${folder}\\` : `${folder}/`;
  if (!path.startsWith(below)) return undefined;
  const rest = path.slice(below.length);
  const separator = /^[A-Za-z]:\\|^\\\\/.test(to) ? '\\' : '/';
  return `${trimmed(to) === '/' ? '' : trimmed(to)}${separator}${rest.replace(/[/\\]/g, separator)}`;
}

/** The longest matching folder wins. A path outside all folders stays unchanged. */
export function pathsOf(mappings: readonly Mapping[]): Paths {
  const through = (path: string, from: 'local' | 'remote', to: 'local' | 'remote') => {
    const byLength = [...mappings].sort((one, other) => other[from].length - one[from].length);
    for (const mapping of byLength) {
      const found = moved(path, mapping[from], mapping[to]);
      if (found !== undefined) return found;
    }
    return path;
  };
  return {
    toRemote: (path) => through(path, 'local', 'remote'),
    toLocal: (path) => through(path, 'remote', 'local'),
  };
}

const isAbsolute = (path: string) => /^([/\\]|[A-Za-z]:[/\\])/.test(path);

/** Makes a path of an item, which can be relative to its session's folder, absolute on the client's machine. */
export const localPath = (path: string, cwd: string, paths: Paths): string =>
  paths.toLocal(isAbsolute(path) || cwd === '' ? path : `${trimmed(cwd)}/${path}`);
