-- Questions that are open, by when they expire.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "prompts_to_expire_idx" ON "prompts"("expires_at") WHERE "state" = 'open';
