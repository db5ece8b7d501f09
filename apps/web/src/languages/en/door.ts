/** English texts: new accounts, of programs that ask for access, of failed sign-ins, and of a wrong address. */
export const words = {
  create: {
    title: { setup: 'Create the first account', invite: 'You’re invited', open: 'Create an account' },
    useless: {
      setup:
        'This link has been used or replaced. Use the newest one in the terminal. If you have an account, sign in.',
      invite: 'This invitation has been used or has expired. Ask for a new one. If you have an account, sign in.',
      open: 'New accounts need an invitation. Ask someone with an account.',
    },
    alreadyIn: 'You’re already signed in. {home}',
    checking: 'Checking the link…',
    name: 'Your name',
    emailHint: 'You’ll sign in with it. Relay sends no email.',
    creating: 'Creating your account…',
    create: 'Create account',
  },
  secondStep: {
    code: 'Code',
    codeHint: 'The six digits that your authenticator app shows now.',
    recoveryCode: 'Recovery code',
    recoveryHint: 'One of the ten you saved. Each works once.',
    useRecovery: 'Use a recovery code instead',
    useApp: 'Use the code of the app instead',
    again: 'Start again',
  },
  consent: {
    title: 'Allow access?',
    checking: 'Checking the request…',
    wants: '{app} wants to use your account {email}. It will be able to:',
    returns: (where: string) =>
      `You’ll return to ${where}. Allow access only if you started this yourself. You can revoke it at any time under Settings › Apps.`,
    app: (protocol: string) => `an app on this device (${protocol})`,
    program: (host: string) => `a program on this computer (${host})`,
    unknown: 'an unknown address',
    deny: 'Deny',
    denying: 'Denying…',
    allow: 'Allow',
    allowing: 'Allowing…',
    done: 'All set',
    goBack: (app: string | undefined) => `Go back to ${app ?? 'the app'}; you can close this page.`,
  },
  failedSignIn: {
    title: 'Sign-in didn’t work',
    code: 'Code: {code}',
    unknown: 'Go back to the app or page where you started and try again.',
    byCode: {
      invalid_client:
        'The app that sent you here isn’t known to this relay. Update it, or ask the person who gave it to you.',
      invalid_redirect:
        'The app that sent you here wants to send you back to an address that isn’t its own. Don’t use it.',
      invalid_redirect_uri:
        'The app that sent you here wants to send you back to an address that isn’t its own. Don’t use it.',
      invalid_scope: 'The app that sent you here asks for a permission that doesn’t exist. Update the app.',
      account_not_linked:
        'There’s already an account with this email and a password. Sign in with that password; accounts are never linked by email address.',
      email_not_found:
        'An account needs your email address, and that service didn’t share it. Allow it to, or sign in another way.',
      FORBIDDEN: 'You don’t have an account here, and a new one needs an invitation. Ask someone with an account.',
      state_mismatch: 'This sign-in started in another browser or is too old. Start again here.',
      state_not_found: 'This sign-in started in another browser or is too old. Start again here.',
      access_denied: 'You didn’t allow it, so nothing has changed.',
    },
  },
  elsewhere: {
    title: 'Wrong address',
    at: 'You’re at {here}; this relay lives at {there}.',
    go: 'Go there',
    operator: 'If you run this relay and that address is wrong, set {setting} and restart it.',
  },
};
