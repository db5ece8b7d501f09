-- compatible-with: 1.0.0
-- batched
UPDATE "watched_sessions" w SET "agent_type" = s."agent_type", "native_id" = s."native_id" FROM "sessions" s
WHERE s."key" = w."session_key" AND w."native_id" IS NULL AND (w."user_id", w."session_key") IN (SELECT "user_id", "session_key" FROM "watched_sessions" WHERE "native_id" IS NULL LIMIT 2000);
