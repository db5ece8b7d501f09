-- Ended tasks whose texts are to be cut: without it the purge reads the whole table every hour.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_to_shorten_idx" ON "tasks"("finished_at") WHERE "finished_at" IS NOT NULL AND ("instruction" <> '' OR octet_length("result") > 2048 OR octet_length("error_text") > 2048);
