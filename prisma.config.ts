import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Prisma wants an address even for commands that open no database.
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost:5432/relay' },
});
