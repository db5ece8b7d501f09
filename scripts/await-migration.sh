#!/usr/bin/env bash
# Waits for the applied migration. Exits with 0 when it is complete; with 1, and its log, as soon as it has failed, or after an hour.
# `kubectl wait --for=condition=complete` alone would keep waiting for a failed Job.
set -euo pipefail

if [[ "${1:-}" == --help ]]; then
  echo "Usage: scripts/await-migration.sh [namespace]    (relay unless given)"
  exit 0
fi
namespace=${1:-relay}
job=(--namespace "$namespace" job/relay-migrate)
for ((seconds = 0; seconds < 3600; seconds += 2)); do
  ended=$(kubectl get "${job[@]}" --output "jsonpath={.status.conditions[?(@.status=='True')].type}")
  case " $ended " in
    *' Complete '*)
      echo 'await-migration: the migration is complete.'
      kubectl logs "${job[@]}" --tail=20 || echo 'await-migration: its log cannot be read.' >&2
      exit 0
      ;;
    *' Failed '*) break ;;
  esac
  sleep 2
done
kubectl logs "${job[@]}" --tail=50 >&2 || echo 'await-migration: its log cannot be read.' >&2
echo "await-migration: the migration ${ended:-is still under way}. Nothing was deployed, and the release that runs goes on." >&2
exit 1
