/** AUTH_UPSTREAM: services that the built-in sign-in sends people to. Checks the shape; makes no request, and repeats no secret. */
import { isSafeAddress } from './addresses.ts';
import { isText } from './issuers.ts';
import type { Parsed } from './variable.ts';

interface Common {
  /** Part of addresses and of the relay's data: after a rename, people who came through it count as strangers. */
  readonly id: string;
  /** On the button. */
  readonly name: string;
  readonly clientId: string;
}

/** One entry of `AUTH_UPSTREAM`; `google` is an `oidc` with preset fields. */
export type UpstreamSettings =
  | (Common & { readonly kind: 'github'; readonly clientSecret: string; readonly address: string })
  /** If the secret is missing it is a public client: PKCE alone proves it. */
  | (Common & { readonly kind: 'oidc'; readonly clientSecret: string | undefined; readonly issuer: string });

type Fields = Readonly<Record<string, unknown>>;

const fields = ['provider', 'id', 'name', 'clientId', 'clientSecret', 'issuer', 'address'];
const names: Readonly<Record<string, string>> = { github: 'GitHub', google: 'Google' };
const maxEntries = 20;

/** The problem of an entry; never a value of it, because one of them is a secret. */
function problemOf(entry: Fields): string | undefined {
  const { provider, id, name, clientId, clientSecret, issuer, address } = entry;
  if (provider !== 'github' && provider !== 'google' && provider !== 'oidc')
    return '"provider" must be github, google or oidc';
  if (Object.keys(entry).some((field) => !fields.includes(field)))
    return `it has a field that is not known (known: ${fields.join(', ')})`;
  // Passwords are kept under this name.
  if (id !== undefined && (!isText(id) || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(id) || id === 'credential'))
    return '"id" must be up to 32 small letters, digits and dashes, and not "credential"';
  if (provider === 'oidc' && id === undefined) return '"id" is missing';
  if (name !== undefined && !isText(name)) return '"name" must be a text';
  if (!isText(clientId)) return '"clientId" must be a text';
  if (clientSecret === undefined ? provider !== 'oidc' : !isText(clientSecret)) return '"clientSecret" must be a text';
  if (provider === 'oidc' ? !isSafeAddress(issuer) : issuer !== undefined)
    return provider === 'oidc'
      ? '"issuer" must be an https address (http only on this machine)'
      : '"issuer" is for the provider oidc only';
  if (address !== undefined && (provider !== 'github' || !isSafeAddress(address)))
    return '"address" must be the https address of a GitHub Enterprise server';
  return undefined;
}

function settingsOf({ provider, ...entry }: Fields): UpstreamSettings {
  const id = (entry.id ?? provider) as string;
  const common = { id, name: (entry.name ?? names[id] ?? id) as string, clientId: entry.clientId as string };
  if (provider === 'github') {
    const address = ((entry.address as string | undefined) ?? 'https://github.com').replace(/\/+$/, '');
    return { ...common, kind: 'github', clientSecret: entry.clientSecret as string, address };
  }
  const issuer = provider === 'google' ? 'https://accounts.google.com' : (entry.issuer as string);
  return { ...common, kind: 'oidc', clientSecret: entry.clientSecret as string | undefined, issuer };
}

/** Reads the parsed JSON; the refusal names the entry and the field. */
export function upstreams(value: unknown): Parsed<readonly UpstreamSettings[]> {
  if (!Array.isArray(value)) return { expected: 'it is not a list' };
  if (value.length > maxEntries) return { expected: `it has more than ${maxEntries} entries` };
  for (const [index, entry] of (value as unknown[]).entries()) {
    const isObject = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    const problem = isObject ? problemOf(entry as Fields) : 'it must be an object';
    if (problem) return { expected: `entry ${index + 1}: ${problem}` };
  }
  const settings = (value as Fields[]).map(settingsOf);
  const ids = settings.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined ? { value: settings } : { expected: `the id ${twice} appears twice; give each its own` };
}
