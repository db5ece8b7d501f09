/** The part of the browser in making and showing a passkey. Loaded when a person does one of them. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type WebAuthnError,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { Refusal } from '../api/refusal.ts';

export type { PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON };

/** @throws Refusal PASSKEY_CANCELLED, PASSKEY_EXISTS, PASSKEY_FAILED */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { name, code } = error as Partial<WebAuthnError>;
    if (code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED' || name === 'InvalidStateError')
      throw new Refusal('PASSKEY_EXISTS', '');
    throw new Refusal(name === 'NotAllowedError' || name === 'AbortError' ? 'PASSKEY_CANCELLED' : 'PASSKEY_FAILED', '');
  }
}

export const makePasskey = (optionsJSON: PublicKeyCredentialCreationOptionsJSON) =>
  refusing(startRegistration({ optionsJSON }));

/** The relay accepts only passkeys whose device checked the person. */
export const showPasskey = (options: PublicKeyCredentialRequestOptionsJSON) =>
  refusing(startAuthentication({ optionsJSON: { ...options, userVerification: 'required' } }));
