/** A phone's fingerprint reader that accepts the finger: Chromium's virtual authenticator. */
import type { CDPSession } from 'playwright-core';
import type { Person } from './browser.ts';

export interface FingerprintReader {
  cdp: CDPSession;
  authenticatorId: string;
}

export async function fingerprintReader({ context, page }: Person): Promise<FingerprintReader> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return { cdp, authenticatorId };
}
