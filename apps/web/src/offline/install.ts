/** The offer of the browser to install the pages: kept until the person asks for it. */

interface InstallEvent extends Event {
  prompt(): Promise<unknown>;
}

let offered: InstallEvent | undefined;
const listeners = new Set<() => void>();
const become = (next: InstallEvent | undefined) => {
  offered = next;
  for (const listener of listeners) listener();
};

/** Called at the start: browsers make their offer once, and early. */
export function followInstall(window: Window): void {
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    become(event as InstallEvent);
  });
  window.addEventListener('appinstalled', () => become(undefined));
}

export const installOffer = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  isOpen: () => offered !== undefined,
  /** Call it in a click. */
  accept: async (): Promise<void> => {
    const event = offered;
    become(undefined);
    await event?.prompt();
  },
};
