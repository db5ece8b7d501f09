/** Files with secrets: lists name them, and nothing sends their content (rules, 25.4). */
const names = [
  ...['.env', '.env.*', '*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ovpn'],
  ...['*.tfstate', '*.tfvars', 'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '.netrc', '.npmrc', '.pypirc'],
  ...['.git-credentials', '.htpasswd', '.pgpass', '.vault*', 'credentials', 'credentials.json', 'secrets.*'],
  'service-account*.json',
];
const folders = ['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.config/gcloud', '.git'];
const examples = ['.env.example', '.env.sample', '.env.template'];

const matcher = (patterns: readonly string[]) => {
  const one = (pattern: string) =>
    pattern
      .split('*')
      .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^/]*');
  return new RegExp(`(?:^|/)(?:${patterns.map(one).join('|')})$`, 'i');
};
const folderPattern = new RegExp(
  `(?:^|/)(?:${folders.map((name) => name.replaceAll('.', '\\.')).join('|')})(?:/|$)`,
  'i',
);

export interface SecretRules {
  /** Patterns of names that are hidden as well, and names that are not. */
  hide?: readonly string[] | undefined;
  show?: readonly string[] | undefined;
}

/** Whether a file with this name can hold a secret. */
export function secretNames({ hide = [], show = [] }: SecretRules): (path: string) => boolean {
  const hidden = matcher([...names, ...hide]);
  const shown = matcher([...examples, ...show]);
  return (path) => folderPattern.test(path) || (hidden.test(path) && !shown.test(path));
}

/** Whether a text holds the first line of a private key. */
export const holdsKey = (text: string): boolean => /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/.test(text);
