/** Entries of the sign-in in the audit of a person (rules, 8.20), written after a request, and the notice that a program was allowed. */
import { addAccessNotice, clientName, listPeople } from '@relay/database';
import { type createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { notifyAllowed } from '../account/notify-allowed.ts';
import { notifyChanged } from '../account/notify-changed.ts';
import { publisherOf } from '../publisher.ts';
import { noteAction } from './audit.ts';
import type { IdentityDeps } from './deps.ts';
import { addPasskey, ownerOfShownPasskey, signInWithPasskey } from './passkeys.ts';
import { halfSignedIn, verifyCode, verifyRecoveryCode } from './second-factor.ts';

/** Attempts with a password, a code or a passkey, and their names in the audit. */
const attempts: ReadonlyMap<string, string> = new Map([
  ['/sign-in/email', 'signIn'],
  [verifyCode, 'signIn'],
  [verifyRecoveryCode, 'useRecoveryCode'],
  ['/change-password', 'changePassword'],
  ['/relay/confirm', 'confirmPassword'],
  ['/two-factor/enable', 'setUpSecondFactor'],
  ['/two-factor/disable', 'turnOffSecondFactor'],
  ['/two-factor/generate-backup-codes', 'renewRecoveryCodes'],
  [addPasskey, 'addPasskey'],
  ['/passkey/update-passkey', 'renamePasskey'],
  ['/passkey/delete-passkey', 'removePasskey'],
  [signInWithPasskey, 'signInWithPasskey'],
]);
/** Requests whose success is recorded with the row that they write. */
const notedByRow: ReadonlySet<string> = new Set([
  '/sign-in/email',
  verifyCode,
  '/two-factor/disable',
  signInWithPasskey,
]);

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];
interface Refusal {
  body?: unknown;
}

const codeOf = (refusal: Refusal): string => {
  const { code } = (refusal.body ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'REFUSED';
};

export function accountNotes(deps: IdentityDeps) {
  const publisher = publisherOf(deps);

  return {
    /** Notifies the person which program was allowed. Returns its id; undefined if the person declined. */
    noteConsent: async (body: unknown, userId: string | undefined): Promise<string | undefined> => {
      const { accept, oauth_query } = (body ?? {}) as { accept?: unknown; oauth_query?: unknown };
      const clientId = typeof oauth_query === 'string' ? new URLSearchParams(oauth_query).get('client_id') : null;
      if (accept === false || userId === undefined || clientId === null) return undefined;
      const name = await clientName(deps.database, clientId);
      await addAccessNotice(deps.database, { userId, name });
      await notifyAllowed({ ...deps, publisher }, userId, { kind: 'program', name });
      return clientId;
    },

    /**
     * Records an attempt with a password or a code, unless its row did. The person is the owner of the typed address, the person
     * whose code is awaited, or the signed-in person. Ignores other requests.
     */
    noteAttempt: async (ctx: Context, refusal: Refusal | undefined): Promise<void> => {
      const action = attempts.get(ctx.path);
      if (action === undefined || (!refusal && notedByRow.has(ctx.path))) return;
      const outcome = refusal ? codeOf(refusal) : 'done';
      if (ctx.path === '/sign-in/email') {
        const { email } = (ctx.body ?? {}) as { email?: unknown };
        // PostgreSQL takes no U+0000, so no address has one.
        if (typeof email !== 'string' || email.includes('\u0000')) return;
        const userId = (await listPeople(deps.database, email))[0]?.id;
        // Not awaited: the time of a refusal must not reveal whether the address has an account.
        if (userId !== undefined) void noteAction(deps, ctx, { userId, action, outcome });
        return;
      }
      if (ctx.path === signInWithPasskey) {
        const userId = await ownerOfShownPasskey(deps, ctx.body);
        if (userId !== undefined) await noteAction(deps, ctx, { userId, action, outcome });
        return;
      }
      const signedIn = ctx.context.session ?? (await getSessionFromCtx(ctx));
      const userId = (signedIn ?? ctx.context.newSession)?.user.id ?? (await halfSignedIn(ctx));
      if (userId === undefined) return;
      const isSetUp = signedIn && ctx.path === verifyCode;
      await noteAction(deps, ctx, { userId, action: isSetUp ? 'turnOnSecondFactor' : action, outcome });
      if (!refusal) await notifyChanged(deps, userId, action);
    },
  };
}
