-- A page of the sessions that the agent of a sign-in started.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_started_by_idx" ON "sessions"("started_by", "archived", "updated_at" DESC, "key" DESC) WHERE "started_by" IS NOT NULL;
