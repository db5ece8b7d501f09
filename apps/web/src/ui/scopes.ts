/** The permissions of a program as text (scopes of the API and of OpenID Connect). */
import { words } from '../catalogue.ts';

/** One phrase per scope that means something to a person; those it does not know, as they are. */
export function scopeWords(scopes: readonly string[]): string[] {
  const phrases = new Map(Object.entries(words.scopes));
  return scopes.filter((scope) => scope !== '' && scope !== 'openid').map((scope) => phrases.get(scope) ?? scope);
}
