-- Agents whose sessions continue by themselves after a usage limit, and the messages that the relay writes for it (ADR 92).
-- compatible-with: 1.0.0
ALTER TABLE "devices" ADD COLUMN "continues" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "tasks" ADD COLUMN "automatic" BOOLEAN NOT NULL DEFAULT false;
