-- A page of sessions reads its own rows, whether few or most sessions of the person are archived.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_owner_id_archived_updated_at_key_idx" ON "sessions"("owner_id", "archived", "updated_at" DESC, "key" DESC);
