/** The permissions of a program as text (scopes of the API and of OpenID Connect). */
import { words } from '../catalogue.ts';

/** Returns one phrase for each scope; an unknown scope stays unchanged. */
export function scopeWords(scopes: readonly string[]): string[] {
  const phrases = new Map(Object.entries(words.scopes));
  return scopes.filter((scope) => scope !== '' && scope !== 'openid').map((scope) => phrases.get(scope) ?? scope);
}
