-- "tasks_ended_idx" replaces it.
-- compatible-with: 1.0.0
DROP INDEX "tasks_device_id_finished_at_idx";
