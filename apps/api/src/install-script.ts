/** The text of `/install.sh`. */

interface InstallScript {
  /** The address of the relay, without a slash at its end. */
  base: string;
  version: string;
  /** The SHA-256 of the package, in hex. */
  sha256: string;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A POSIX shell script that installs the daemon of this relay for one user, under `~/.local` or RELAY_PREFIX. It prints its plan
 * first, checks Node and the checksum before it changes anything, and runs only when it has arrived whole. `--dry-run` ends
 * after the plan.
 */
export const installScript = ({ base, version, sha256 }: InstallScript) => `#!/bin/sh
# Installs relay-daemon, the bridge between this machine's agents and the relay it came from.
# To read it first:  curl -fsSL ${base}/install.sh | less
set -eu

base=${quoted(base)}
version=${quoted(version)}
sha256=${sha256}

fail() { printf 'install.sh: %s\\n' "$1" >&2; exit 1; }

fetch() {
  if command -v curl >/dev/null 2>&1; then curl -fsSL -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then wget -q -O "$2" "$1"
  else node -e 'fetch(process.argv[1]).then(async (answer) => { if (!answer.ok) throw answer.status; require("node:fs").writeFileSync(process.argv[2], Buffer.from(await answer.arrayBuffer())); }).catch(() => process.exit(1))' "$1" "$2"
  fi
}

main() {
  command -v node >/dev/null 2>&1 || fail 'Node is not installed; install Node 20.19 or newer (https://nodejs.org) and run this again.'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node $(node --version) is too old; install Node 20.19 or newer and run this again."
  command -v tar >/dev/null 2>&1 || fail 'tar is not installed; install it and run this again.'

  [ -n "\${HOME:-}" ] || [ -n "\${RELAY_PREFIX:-}" ] || fail 'HOME is not set; set RELAY_PREFIX to the folder to install to.'
  prefix=\${RELAY_PREFIX:-$HOME/.local}
  folder=$prefix/share/relay-daemon/$version
  program=$prefix/bin/relay-daemon

  cat <<PLAN
This installs relay-daemon $version from $base

  $folder    the program (1 package, about 2 MB)
  $program    a link to it

It needs no root and changes nothing else. To remove it: rm -r "$prefix/share/relay-daemon" "$program"
PLAN
  [ "\${1:-}" != --dry-run ] || return 0

  mkdir -p "$prefix/share/relay-daemon" "$prefix/bin"
  work=$(mktemp -d "$prefix/share/relay-daemon/.new-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  fetch "$base/relay-daemon.tgz" "$work/relay-daemon.tgz" || fail "could not download $base/relay-daemon.tgz; check the network and run this again."
  node -e 'const { createHash } = require("node:crypto"); const hash = createHash("sha256").update(require("node:fs").readFileSync(process.argv[1])).digest("hex"); process.exit(hash === process.argv[2] ? 0 : 1)' \\
    "$work/relay-daemon.tgz" "$sha256" || fail 'the download has another checksum than this script: the relay may have been updated meanwhile. Run this again.'

  mkdir "$work/new"
  tar -xzf "$work/relay-daemon.tgz" -C "$work/new" --strip-components 1
  chmod 755 "$work/new/dist/main.js"
  node "$work/new/dist/main.js" --version >/dev/null || fail 'the downloaded program does not start; nothing was installed.'
  [ -h "$program" ] && update=yes || update=no
  rm -rf "$folder"
  mv "$work/new" "$folder"
  ln -sf "$folder/dist/main.js" "$program"

  printf '\\nInstalled. Connect this machine to your account, then start it:\\n\\n'
  case ":$PATH:" in
    *":$prefix/bin:"*) name=relay-daemon ;;
    *) name=$program ;;
  esac
  printf '  %s register --server %s --agent auto\\n  %s up\\n\\n' "$name" "$base" "$name"
  [ $update = no ] || printf 'Where it is installed as a service, this starts the new version:\\n\\n  %s service install\\n\\n' "$name"
  [ "$name" = relay-daemon ] || printf '(%s is not in PATH; add it to call the program by its name.)\\n' "$prefix/bin"
}

main "$@"
`;
