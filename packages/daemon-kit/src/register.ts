/** The registration flow of a device (rules, chapter 7; RFC 8628): ask for a code, let a person confirm it, poll for the credential. */
import { Failure } from '@relay/machine';
import type { DeviceCode, RelayApi } from './api.ts';
import { type Clock, elapsedOn, pause } from './clock.ts';
import { exitCodes } from './exit-codes.ts';

export interface Registration {
  deviceId: string;
  refreshToken: string;
}

interface RegistrationOptions {
  api: RelayApi;
  device: { hostname: string; agentType: string; name: string; key?: string };
  clock: Clock;
  /** The person must see link and code now, unless it is approved. */
  onCode: (code: DeviceCode) => void;
  /** Before every wait. `problem`: the reason why the last poll got no answer. */
  onWait: (remainingMs: number, problem?: string) => void;
}

/** The minimum interval, also for a relay that omits it or sends a tiny one. */
const minIntervalMs = 200;
/** RFC 8628 §3.5: `slow_down` lengthens the interval by five seconds, for good. */
const slowDownMs = 5000;

const endings: Readonly<Record<string, [code: string, message: string, exitCode: number]>> = {
  expired_token: [
    'CODE_EXPIRED',
    'The code was not confirmed in time. Run "relay-daemon register" again.',
    exitCodes.denied,
  ],
  access_denied: ['DENIED', 'The registration was denied in the browser.', exitCodes.denied],
  invalid_grant: [
    'CODE_UNKNOWN',
    'The relay no longer knows this code. Run "relay-daemon register" again.',
    exitCodes.denied,
  ],
};

/** Resolves with the credential, or throws a Failure with the outcome of the registration. */
export async function register({ api, device, clock, onCode, onWait }: RegistrationOptions): Promise<Registration> {
  const code = await api.requestCode(device);
  onCode(code);
  const deadline = elapsedOn(clock) + code.expiresInMs;
  let intervalMs = Math.max(code.intervalMs, minIntervalMs);
  let waitMs = code.approved ? 0 : intervalMs;
  let problem: string | undefined;
  for (;;) {
    const remainingMs = deadline - elapsedOn(clock);
    if (remainingMs <= 0) throw ended('expired_token');
    onWait(remainingMs, problem);
    await pause(clock, Math.min(waitMs, remainingMs));
    const answer = await api.pollToken(code.deviceCode);
    if (answer.kind === 'credential') return { deviceId: answer.deviceId, refreshToken: answer.refreshToken };
    if (answer.kind === 'later') {
      // The relay is in trouble: each failed poll waits longer, up to half a minute.
      waitMs = Math.max(answer.waitMs, Math.min(waitMs * 2, 30_000));
      problem = answer.why;
      continue;
    }
    if (answer.error === 'slow_down') intervalMs += slowDownMs;
    else if (answer.error !== 'authorization_pending') throw ended(answer.error);
    waitMs = intervalMs;
    problem = undefined;
  }
}

function ended(error: string): Failure {
  const [code, message, exitCode] = endings[error] ?? [
    'REGISTRATION_FAILED',
    `The relay ended the registration with "${error.slice(0, 300)}".`,
    exitCodes.failed,
  ];
  return new Failure(code, message, exitCode);
}
