-- Ended tasks of a machine. A claim of queued tasks cannot use this index, not even in a plan that was made on an empty table.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_ended_idx" ON "tasks"("device_id", "finished_at") WHERE "finished_at" IS NOT NULL;
