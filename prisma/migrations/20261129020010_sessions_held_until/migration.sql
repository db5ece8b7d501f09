-- Queues that a usage limit holds, by when it resets.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_held_until_idx" ON "sessions"("held_until") WHERE "held_until" IS NOT NULL;
