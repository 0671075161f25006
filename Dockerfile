# The service in one image: API, web pages, and what starts them. The database is another container's.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npx -y pnpm@12 install --frozen-lockfile && node_modules/.bin/node scripts/build-web.ts

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app /app
RUN mkdir -p /data && chown node:node /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4600 TURNBACK_DATA=/data
VOLUME /data
EXPOSE 4600
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not through pnpm: one process less between the container's signals and the supervisor.
CMD ["node_modules/node24/bin/node", "scripts/start.ts"]
