-- What ended a moment ago, by device: an end without a text is asked for again by the next connection.
CREATE INDEX "tasks_device_id_finished_at_idx" ON "tasks"("device_id", "finished_at");
