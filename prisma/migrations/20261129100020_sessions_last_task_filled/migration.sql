-- A session that another transaction changes just now is left out: its next task writes it.
-- compatible-with: 1.0.0
-- batched
UPDATE "sessions" SET "last_task" = relay_last_task("key")
WHERE "key" IN (SELECT s."key" FROM "sessions" s WHERE s."last_task" IS NULL
  AND NOT EXISTS (SELECT 1 FROM "tasks" t WHERE t."session_key" = s."key" AND t."state" BETWEEN 'later' AND 'sent') LIMIT 2000 FOR NO KEY UPDATE SKIP LOCKED);
