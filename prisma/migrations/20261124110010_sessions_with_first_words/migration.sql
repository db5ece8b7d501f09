-- Sessions that were not named yet.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_first_words_idx" ON "sessions"("created_at") WHERE "first_words" IS NOT NULL;
