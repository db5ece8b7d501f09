-- compatible-with: 1.0.0
-- batched
UPDATE "watched_sessions" w SET "device_id" = (SELECT s."device_id" FROM "sessions" s WHERE s."key" = w."session_key")
WHERE (w."user_id", w."session_key") IN (SELECT "user_id", "session_key" FROM "watched_sessions" WHERE "device_id" IS NULL LIMIT 5000);
