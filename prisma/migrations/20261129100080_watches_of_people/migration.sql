-- The watches of a person in the order of their list, with all that it shows.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "watched_sessions_list_idx" ON "watched_sessions"("user_id", "created_at", "session_key") INCLUDE ("device_id", "agent_type", "native_id");
