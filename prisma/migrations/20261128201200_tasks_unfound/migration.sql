-- Ends that the history of a daemon may complete: without it each connection reads all tasks of the last hour.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_unfound_idx" ON "tasks"("device_id", "finished_at") WHERE ("state" = 'completed' AND "instruction" <> '') OR ("kind" = 'start' AND "sent_at" IS NOT NULL);
