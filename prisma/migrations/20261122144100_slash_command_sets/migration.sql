-- CreateTable
CREATE TABLE "slash_command_sets" (
    "device_id" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "commands" JSONB NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "slash_command_sets_pkey" PRIMARY KEY ("device_id","project")
);

-- CreateIndex
CREATE INDEX "slash_command_sets_reported_at_idx" ON "slash_command_sets"("reported_at");

-- AddForeignKey
ALTER TABLE "slash_command_sets" ADD CONSTRAINT "slash_command_sets_device_id_fkey" FOREIGN KEY ("device_id") REFERENCES "devices"("id") ON DELETE CASCADE ON UPDATE CASCADE;

