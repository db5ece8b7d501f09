-- CreateIndex
CREATE INDEX "tasks_finished_at_id_idx" ON "tasks"("finished_at", "id");

-- CreateIndex
CREATE INDEX "notifications_created_at_idx" ON "notifications"("created_at");
