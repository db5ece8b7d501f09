# One image, five commands: api, gateway, standalone, migrate, admin (docker/relay). Build it anywhere:
#   docker build -t relay .
#   buildah bud -t relay .
# Node comes with the base. A base without it works too, if its distribution has Node 20.19 or newer (Debian 13):
#   docker build --build-arg BASE_IMAGE=docker.io/library/debian:trixie-slim -t relay .
ARG BASE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

# Build and runtime use the same base: Node, tini, certificates.
FROM ${BASE_IMAGE} AS ground
RUN set -eu; \
    apt-get update; \
    apt-get install -y --no-install-recommends tini ca-certificates; \
    command -v node >/dev/null || apt-get install -y --no-install-recommends nodejs; \
    apt-get clean; \
    rm -rf /var/lib/apt/lists/*; \
    node -e 'const [major, minor] = process.versions.node.split("."); if (major < 20 || (major == 20 && minor < 19)) { console.error(`Node ${process.version} is too old: BASE_IMAGE must have 20.19 or newer.`); process.exit(1) }'

FROM ground AS build
RUN set -eu; \
    command -v npm >/dev/null || { apt-get update; apt-get install -y --no-install-recommends npm; }
WORKDIR /src
COPY . .
# The npm that wrote the lock file reads it best; `hash -r` makes the shell forget the path of the other npm.
RUN set -eu; \
    npm install --global "$(node -p 'require("./package.json").packageManager')"; \
    hash -r; \
    npm ci --no-audit --no-fund --ignore-scripts; \
    npm run --silent build
# The runtime tree: only dependencies of the server programs, without build tools. The programs load only the PostgreSQL query
# compiler of Prisma, and only the Node build of OpenTelemetry.
RUN set -eu; \
    mkdir /app; \
    cp -r package.json package-lock.json packages apps conformance /app; \
    mkdir /app/prisma; \
    cp -r prisma/migrations /app/prisma; \
    cd /app; \
    find . -name node_modules -prune -exec rm -rf {} +; \
    npm ci --no-audit --no-fund --ignore-scripts --omit=dev --omit=peer --omit=optional \
      --workspace apps/api --workspace apps/gateway --workspace apps/standalone; \
    test ! -e node_modules/prisma && test ! -e node_modules/typescript; \
    find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*.postgresql.*' -delete; \
    rm -rf node_modules/@opentelemetry/*/build/esm node_modules/@opentelemetry/*/build/esnext; \
    find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.tsbuildinfo' \) -delete; \
    rm -rf conformance apps/cli packages/testing package-lock.json; \
    find apps/daemon -type f ! -name relay-daemon.tgz -delete; \
    find apps/daemon -type d -empty -delete; \
    find packages apps -mindepth 2 -maxdepth 2 ! -name dist ! -name package.json ! -name node_modules -exec rm -rf {} +; \
    for role in api gateway standalone; do \
      node apps/$role/dist/main.js --version >/dev/null 2>&1 || true; \
      test -s apps/$role/dist/program.cjs.compiled; \
    done

FROM ground
ARG VERSION=1.0.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Agent session relay" \
      org.opencontainers.image.description="A relay between people's apps and the AI agents on their machines" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
ENV NODE_ENV=production
# The user of the image cannot change /app; only `standalone` writes, to DATA_DIR.
COPY --from=build /app /app
COPY docker/relay /usr/local/bin/relay
RUN mkdir /data && chown 10001:10001 /data
WORKDIR /app
USER 10001:10001
EXPOSE 4000 9464
ENTRYPOINT ["relay"]
CMD ["standalone"]
