-- compatible-with: 1.0.0
-- batched
UPDATE "inbox_heads" SET "counts" = relay_inbox_count("user_id")
WHERE "user_id" IN (SELECT "user_id" FROM "inbox_heads" WHERE "counts" IS NULL LIMIT 1000 FOR NO KEY UPDATE);
