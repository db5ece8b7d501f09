-- AlterTable
ALTER TABLE "tasks" ADD COLUMN     "answer" JSONB,
ADD COLUMN     "prompt_uuid" TEXT;

-- CreateTable
CREATE TABLE "prompts" (
    "session_key" TEXT NOT NULL,
    "uuid" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "device_id" TEXT NOT NULL,
    "task_id" TEXT,
    "state" TEXT NOT NULL DEFAULT 'open',
    "payload" JSONB NOT NULL,
    "digest" TEXT,
    "asked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "answered_at" TIMESTAMPTZ(3),
    "answered_by" TEXT,
    "option_id" TEXT,
    "answer_task_id" TEXT,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "prompts_pkey" PRIMARY KEY ("session_key","uuid")
);

-- CreateIndex
CREATE UNIQUE INDEX "prompts_seq_key" ON "prompts"("seq");

-- CreateIndex
CREATE INDEX "prompts_device_id_state_idx" ON "prompts"("device_id", "state");

-- CreateIndex
CREATE INDEX "prompts_ended_at_idx" ON "prompts"("ended_at");

-- AddForeignKey
ALTER TABLE "prompts" ADD CONSTRAINT "prompts_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;

