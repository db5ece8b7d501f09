-- Pinned sessions in the order of a list. No other list can use this index.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_pinned_idx" ON "sessions"("owner_id", "updated_at" DESC, "key" DESC) WHERE "pinned_at" IS NOT NULL;
