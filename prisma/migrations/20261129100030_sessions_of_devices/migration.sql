-- A page of the sessions of one machine, of however many its person has. The first column is computed, so a lookup by machine and name, whose plan was
-- made on an empty table, cannot use this index.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_of_device_idx" ON "sessions"(("device_id" || ''), "archived", "updated_at" DESC, "key" DESC);
