/**
 * Finds credentials in plain text: messages, stacks, addresses, whole log lines. The last filter, for secrets without a
 * label.
 * Every search is linear in the length of the text, because strangers control it.
 */
const redacted = '[redacted]';

/** Matches the prefix of all relay tokens and keys, so that it covers new kinds. */
const relaySecret = /(rly_[a-z]+_)[A-Za-z0-9_-]+/g;
const dottedRun = /[A-Za-z0-9_.-]+/g;
/**
 * Must be long enough for a token: "the bearer of this" does not count. A WebSocket subprotocol carries a token as
 * `bearer.`.
 */
const bearer = /(bearer(?: +|\.))[A-Za-z0-9._~+/=-]{16,}/gi;
/** A backslash terminates a value because the text can be part of a JSON line already. */
const namedValue =
  /((?:token|ticket|secret|password|passwd|device_?code|api_?key)(?:=|%3D)|(?:[?&]|%3F|%26)(?:user_)?code(?:=|%3D))[^&\s"'\\#;,<>]+/gi;
const addressPassword = /(:\/\/)[^\s/"\\]+@/g;

/** A JWT is three dotted parts and the first begins with `{"`. Glued to something before it, or cut short, it is still one. */
function maskJwt(run: string): string {
  const parts = run.split('.');
  const kept: string[] = [];
  for (let i = 0; i < parts.length; i += 1) {
    const part = parts[i] ?? '';
    const start = part.indexOf('eyJ');
    const isJwt = start !== -1 && (parts[i + 1] ?? '') !== '';
    kept.push(isJwt ? `${part.slice(0, start)}[jwt]` : part);
    // Claims and signature go with the header.
    if (isJwt) i += 2;
  }
  return kept.join('.');
}

/**
 * `text` without tokens and keys of the relay, JWTs, bearer tokens, passwords in addresses and values that are named like a credential.
 * Valid JSON stays valid JSON.
 */
export function maskSecrets(text: string): string {
  let masked = text;
  if (masked.includes('rly_')) masked = masked.replace(relaySecret, `$1${redacted}`);
  if (masked.includes('eyJ')) masked = masked.replace(dottedRun, (run) => (run.includes('eyJ') ? maskJwt(run) : run));
  masked = masked.replace(bearer, `$1${redacted}`).replace(namedValue, `$1${redacted}`);
  return masked.includes('@') ? masked.replace(addressPassword, `$1${redacted}@`) : masked;
}
