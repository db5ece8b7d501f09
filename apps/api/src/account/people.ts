/** Operations on accounts for the operator, from the command line of the relay: access to the database replaces a sign-in. */
import { randomInt } from 'node:crypto';
import type { DeviceVerifier } from '@relay/auth';
import {
  type Person,
  createInvitation,
  isPerson,
  listPeople,
  readCredential,
  removePasskeys,
  removeSecondFactor,
  replacePassword,
  setDisabled,
} from '@relay/database';
import { RelayError } from '@relay/protocol';
import { hashPassword } from 'better-auth/crypto';
import { removeDevice } from '../devices/remove-device.ts';
import { noteAction } from '../identity/audit.ts';
import type { IdentityDeps } from '../identity/deps.ts';
import { signOutEverywhere } from '../identity/end-sign-in.ts';
import { createToken, hashToken } from '../identity/one-time-token.ts';
import { renewSetupLink } from '../identity/sign-up.ts';
import { publisherOf } from '../publisher.ts';
import { deleteAccount } from './delete-account.ts';
import { notifyChanged } from './notify-changed.ts';

export interface PeopleDeps extends IdentityDeps {
  deviceVerifier: DeviceVerifier;
}

export interface People {
  /** Everyone who has an account, oldest first. */
  list(): Promise<Person[]>;
  /**
   * Sets a new password, returns it, removes the passkeys and signs the person out everywhere; a second factor stays. Undefined
   * for an unknown account, or an account without a password.
   */
  resetPassword(email: string): Promise<string | undefined>;
  /**
   * Removes the second factor of a person who has lost it: the password signs in. Undefined for an unknown account; false if it
   * had no second factor.
   */
  resetSecondFactor(email: string): Promise<boolean | undefined>;
  /** Creates a link for one account, even if AUTH_SIGNUP does not let people invite. It expires after a week. */
  invite(): Promise<{ url: string; expiresAt: string | undefined }>;
  /**
   * Revokes every sign-in of the person and refuses further ones, or allows them again. The machines stay. False for an unknown
   * account.
   */
  setDisabled(email: string, disabled: boolean): Promise<boolean>;
  /**
   * Returns a link for the first account, which replaces the previous link of this instance. Undefined once an account exists.
   */
  setupLink(): Promise<string | undefined>;
  /** Removes a device as its owner would. False: no such device. */
  removeDevice(deviceId: string): Promise<boolean>;
  /**
   * Deletes the account and everything of the person (rules, 8.14), found by e-mail address or by id. Returns the id; undefined
   * for an unknown person.
   */
  remove(emailOrId: string): Promise<string | undefined>;
}

const inviteTtlSeconds = 7 * 24 * 60 * 60;

/** Letters and digits that people do not confuse. 20 of them are 99 bits. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const newPassword = () =>
  Array.from({ length: 4 }, () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')).join(
    '-',
  );

export function peopleOf(deps: PeopleDeps): People {
  const { database } = deps;
  const find = async (email: string) => (await listPeople(database, email))[0];
  return {
    list: () => listPeople(database),
    resetPassword: async (email) => {
      const person = await find(email);
      if (!person) return undefined;
      const password = newPassword();
      if (!(await replacePassword(database, person.id, await hashPassword(password)))) return undefined;
      // A person who no longer knows the password might have lost the account to another person.
      await removePasskeys(database, person.id);
      await signOutEverywhere(deps, person.id);
      await noteAction(deps, undefined, { userId: person.id, action: 'resetPassword', program: 'relay-admin' });
      return password;
    },
    resetSecondFactor: async (email) => {
      const person = await find(email);
      if (!person) return undefined;
      if (!(await removeSecondFactor(database, person.id))) return false;
      await noteAction(deps, undefined, { userId: person.id, action: 'resetSecondFactor', program: 'relay-admin' });
      await notifyChanged(deps, person.id, 'resetSecondFactor');
      return true;
    },
    invite: async () => {
      const token = createToken();
      const made = await createInvitation(database, {
        kind: 'invite',
        tokenHash: hashToken(token),
        createdBy: deps.config.instanceName,
        ttlSeconds: inviteTtlSeconds,
      });
      return { url: `${deps.config.publicUrl}/invite#token=${token}`, expiresAt: made?.expiresAt };
    },
    setDisabled: async (email, disabled) => {
      const person = await find(email);
      if (!person) return false;
      await setDisabled(database, person.id, disabled);
      if (disabled) await signOutEverywhere(deps, person.id);
      const action = disabled ? 'disableAccount' : 'enableAccount';
      await noteAction(deps, undefined, { userId: person.id, action, program: 'relay-admin' });
      return true;
    },
    setupLink: () => renewSetupLink(deps),
    removeDevice: async (deviceId) => {
      const device = await readCredential(database, deviceId);
      if (!device || device.removedAt) return false;
      const userId = device.ownerId;
      try {
        await removeDevice({ ...deps, publisher: publisherOf(deps) }, userId, deviceId);
      } catch (error) {
        // Its owner removed it first.
        if (error instanceof RelayError && error.code === 'DEVICE_NOT_FOUND') return false;
        throw error;
      }
      await noteAction(deps, undefined, { userId, action: 'deleteDevice', target: deviceId, program: 'relay-admin' });
      return true;
    },
    remove: async (emailOrId) => {
      const userId = (await find(emailOrId))?.id ?? emailOrId;
      if (!(await isPerson(database, userId))) return undefined;
      await deleteAccount(deps, userId);
      return userId;
    },
  };
}
