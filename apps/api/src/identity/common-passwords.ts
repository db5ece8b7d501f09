/** The passwords guessed first: the usual choices for ten characters. A guesser has far longer lists, but few tries. */

/** A common password without its digits and signs, spelled with letters. */
const words = new Set(
  `password passwort passphrase motdepasse contrasena senha qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop asdfghjkl asdfghjkl
  zxcvbnm qwertyasdfgh qazwsxedc qazwsxedcrfv letmein letmeinnow letmeinplease welcome welcomeback welcomehome willkommen bienvenue iloveyou
  iloveyousomuch iloveu loveyou loveme lovely mylove admin administrator adminadmin root rootroot superuser sysadmin login changeme
  changemenow secret topsecret mysecret master masterkey default guest test testtest testing tester temp temporary user username monkey dragon
  sunshine princess football baseball basketball softball superman batman spiderman starwars pokemon shadow michael jennifer jordan
  charlie thomas daniel jessica ashley nicole michelle andrew robert matthew joshua liverpool chelsea arsenal barcelona realmadrid
  manchester juventus whatever trustno trustnoone freedom mustang computer internet samsung google facebook linkedin dropbox adobe
  microsoft windows apple iphone android cheese chocolate butterfly buttercup summer winter spring autumn january february march april
  june july august september october november december monday friday hello hellohello helloworld hellokitty abcdefghij abcdefgh abcdef abc
  abcabc aaa blink fuckyou fuckme asshole pussy killer hunter ranger harley buster soccer hockey tigger pepper ginger cookie banana orange
  purple silver diamond mercedes porsche ferrari corvette yamaha alexander christian victoria elizabeth blessed jesuschrist jesus heaven
  angel angels babygirl sweetheart lovelove passpass passwordpassword relay agent openai claude`.split(/\s+/),
);

const letters: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
const rows = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
];
const reversed = (text: string) => [...text].reverse().join('');

/** True if a password of the required length is among the first that anyone would guess. `own`: known facts about the person. */
export function isCommonPassword(password: string, own: readonly string[] = []): boolean {
  const small = password.toLowerCase();
  // Few different characters: the same one again and again, or two in turn.
  if (new Set(small).size <= 3) return true;
  if (rows.some((row) => row.includes(small) || reversed(row).includes(small))) return true;
  // A short piece again and again, or digits alone: dates and telephone numbers.
  if (/^(.{1,5})\1+$/.test(small) || /^\d{1,12}$/.test(small)) return true;
  const spelled = small.replace(/[013457@$]/g, (sign) => letters[sign]!);
  const bare = (text: string) => text.replace(/[^a-z]/g, '');
  if (words.has(bare(small)) || words.has(bare(spelled.replace(/[^a-z]+$/, '')))) return true;
  // "Password123": the suffix was spelled with letters too.
  if (words.has(bare(small.replace(/[\d\W_]+$/, '').replace(/[013457@$]/g, (sign) => letters[sign]!)))) return true;
  return own.some((name) => name.length >= 4 && bare(small) === bare(name.toLowerCase()));
}
