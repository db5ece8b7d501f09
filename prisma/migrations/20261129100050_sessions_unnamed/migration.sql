-- The unnamed sessions of a machine, of which there are nearly always none: each changed report looks for them.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_unnamed_idx" ON "sessions"("device_id", "created_at") WHERE "placeholder" AND "first_words" IS NOT NULL;
