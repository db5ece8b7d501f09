-- Settings that a person chose with a message, and the setting that an entry of the audit is about.
-- compatible-with: 1.0.0
ALTER TABLE "tasks" ADD COLUMN "settings" JSONB;
ALTER TABLE "audit_entries" ADD COLUMN "setting" TEXT;
