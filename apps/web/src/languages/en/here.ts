/** English texts: this device: answers in its notifications, the app on it, the data it keeps, and why a notification did not arrive. */
export const words = {
  here: {
    answers: 'Answer in notifications',
    answersMore: 'Relay offers these answers on the notification of a question.',
    answersOf: {
      none: 'None: a tap opens the session',
      reject: 'Reject',
      all: 'Allow once, Reject and Reply, where the whole question is in view',
    },
    locked:
      'Anyone holding this device can give these answers, even while it is locked, if its lock screen shows notifications. Hide notifications there, or choose fewer answers.',
    device: 'This device',
    install: 'Install Relay',
    installMore: 'Relay opens from the home screen or the dock, in a window of its own.',
    installed: 'Relay is installed here.',
    homeScreen: 'Add Relay to the home screen',
    homeScreenMore: 'Tap Share, then “Add to Home Screen”. Open Relay from there and sign in again.',
    homeScreenPicture: 'The Share button of Safari, and the line “Add to Home Screen” in its menu',
    keep: 'Keep what I read last on this device',
    keepMore:
      'Up to 20 sessions, so you can read them offline. They are deleted when you sign out, or when someone else signs in.',
    keeps: 'On',
    keepsNot: 'Off',
    newVersion: 'A new version of Relay is ready.',
    reload: 'Reload',
    offline: 'You’re offline. This is what was read here, as of {time}.',
    noneThen: 'There were no sessions.',
    notKept: 'This session was not kept on this device.',
    allSessions: 'All sessions',
    /** Why a notification was not delivered, or an address is paused. The relay reports it in English. */
    reason: (reason: string) => reason,
  },
};
