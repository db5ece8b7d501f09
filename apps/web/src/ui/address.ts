/** The parts of the address, undecoded: the router decodes some of them, and session ids can contain any character. */
import { useLocation } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';

export const useQuery = (): URLSearchParams => new URLSearchParams(useLocationProperty(() => window.location.search));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The last part of the path, decoded once. */
export const useLastSegment = (): string =>
  decoded(
    useLocationProperty(() => window.location.pathname)
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? '',
  );

/** The id of the session that the path names, decoded once; empty for any other path. */
export const useSessionInPath = (): string => {
  const [, room, id = ''] = useLocationProperty(() => window.location.pathname).split('/');
  return room === 'sessions' ? decoded(id) : '';
};

export const sessionPath = (id: string): string => `/sessions/${encodeURIComponent(id)}`;
export const devicePath = (id: string): string => `/devices/${encodeURIComponent(id)}`;
/** To a new session, on a device that is chosen already if one is given. */
export const newSessionPath = (device?: string): string =>
  device === undefined ? '/sessions/new' : `/sessions/new?device=${encodeURIComponent(device)}`;

/** Leads to a new session on a machine that has just come online. */
export function useStartSession() {
  const [, navigate] = useLocation();
  return (deviceId: string, { replace = false } = {}) =>
    navigate(newSessionPath(deviceId), { replace, state: { hasArrived: true } });
}
