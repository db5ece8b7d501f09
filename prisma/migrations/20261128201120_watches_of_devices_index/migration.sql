-- A connection of a device reads its watched sessions by it.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "watched_sessions_device_id_idx" ON "watched_sessions"("device_id");
