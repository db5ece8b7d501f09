-- compatible-with: 1.0.0
-- batched
UPDATE "sessions" SET "watched" = relay_is_watched("key")
WHERE "key" IN (SELECT s."key" FROM "watched_sessions" w JOIN "sessions" s ON s."key" = w."session_key" AND s."owner_id" = w."user_id"
  WHERE NOT s."watched" LIMIT 2000 FOR NO KEY UPDATE OF s SKIP LOCKED);
