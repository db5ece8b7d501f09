/** Makes addresses safe to log. */
import { maskSecrets } from './secret-text.ts';

const maxLength = 2_048;
const redacted = '[redacted]';

/** Query parameters that are credentials in this protocol (rules, 11.1), or in sign-in redirects. */
const credentialParameters = new Set([
  'access_token',
  'token',
  'ticket',
  'code',
  'user_code',
  'device_code',
  'refresh_token',
  'id_token',
  'client_secret',
  'code_verifier',
  'state',
  'password',
]);

/** The name as a server can read it: percent-decoded, in any case, without the brackets of nested parameters. */
function parameterName(raw: string): string {
  const name = raw.replaceAll('+', ' ');
  try {
    return (decodeURIComponent(name).toLowerCase().split('[')[0] ?? '').trim();
  } catch {
    return name.toLowerCase();
  }
}

function safeParameters(query: string): string {
  return query.replace(/([^&;=]+)=([^&;]*)/g, (whole, name: string) =>
    credentialParameters.has(parameterName(name)) ? `${name}=${redacted}` : whole,
  );
}

/**
 * `url` (absolute, or a path with query) with the values of credential parameters, user codes in paths, passwords and tokens
 * replaced. Cut at 2,048 characters. Takes any text and never throws.
 */
export function safeUrl(url: string): string {
  const cut = url.length > maxLength ? `${url.slice(0, maxLength)}…` : url;
  const start = cut.search(/[?#]/);
  const path = start === -1 ? cut : cut.slice(0, start);
  const rest = start === -1 ? '' : cut.slice(start);
  const safePath = path.replace(/(\/devices\/code\/)[^/]+/i, `$1${redacted}`);
  const safeRest = rest.replace(/[^?#]+/g, safeParameters);
  return maskSecrets(safePath + safeRest);
}
