-- AlterTable
ALTER TABLE "tasks" ADD COLUMN     "edits" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "place" BIGINT;

-- CreateIndex
CREATE INDEX "tasks_session_key_state_idx" ON "tasks"("session_key", "state");
