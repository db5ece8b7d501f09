/** The text of `/install.sh`. */

interface InstallScript {
  /** The address of the relay, without a trailing slash. */
  base: string;
  version: string;
  /** The SHA-256 of the package, in hex. */
  sha256: string;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A POSIX shell script that installs the daemon of this relay for one user, under `~/.local` or RELAY_PREFIX. It prints its plan
 * first, checks Node and the checksum before it changes anything, and runs only when it has arrived whole. With a terminal, a registration key
 * or `--service` it continues until the machine is online: it registers, and starts the daemon as a service or here.
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

# Standard input is this script: answers come from the terminal, where there is one.
has_terminal() { [ -t 2 ] && (: </dev/tty) 2>/dev/null; }

main() {
  plan_only=no connect=yes service=ask
  for word in "$@"; do
    case $word in
      --dry-run) plan_only=yes ;;
      --service) service=yes ;;
      --no-service) service=no ;;
      --install-only) connect=no ;;
      *) fail "there is no option $word; there are --dry-run, --service, --no-service and --install-only." ;;
    esac
  done
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

It needs no root and changes nothing else, unless you agree to a service of your user. To remove it: rm -r "$prefix/share/relay-daemon" "$program"
PLAN
  [ $plan_only = no ] || return 0

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

  case ":$PATH:" in
    *":$prefix/bin:"*) name=relay-daemon ;;
    *) name=$program ;;
  esac
  has_terminal && terminal=yes || terminal=no
  [ $terminal = yes ] || [ $service = yes ] || [ -n "\${RELAY_DAEMON_KEY:-}" ] || connect=no
  if [ $connect = no ]; then
    printf '\\nInstalled. Connect this machine to your account, then start it:\\n\\n'
    printf '  %s register --server %s --agent auto\\n  %s up\\n\\n' "$name" "$base" "$name"
    [ $update = no ] || printf 'Where it is installed as a service, this starts the new version:\\n\\n  %s service install\\n\\n' "$name"
  else
    connect
  fi
  [ "$name" = relay-daemon ] || printf '(%s is not in PATH; add it to call the program by its name.)\\n' "$prefix/bin"
}

connect() {
  rm -rf "$work"
  printf '\\nInstalled.\\n\\n'
  "$program" status >/dev/null 2>&1 && state=0 || state=$?
  # 78: it is not registered; 3: it is, and not running.
  if [ $state = 78 ]; then "$program" register --server "$base" --agent auto || exit $?; fi
  if [ $service = ask ] && [ $terminal = yes ]; then
    printf 'Start it now, and whenever you log in, as a service of your user? [Y/n] ' >&2
    read -r answer </dev/tty || answer=n
    case $answer in [nN]*) service=no ;; *) service=yes ;; esac
  fi
  if [ $service = yes ]; then "$program" service install || exit $?
  elif [ $state = 0 ]; then printf 'It is running; start it again to use the new version.\\n'
  elif [ $terminal = yes ]; then
    printf 'It runs until you press Ctrl-C. Later: %s up\\n' "$name"
    exec "$program" up </dev/tty
  else printf 'Next: %s up\\n' "$name"
  fi
}

main "$@"
`;
