-- AlterTable
ALTER TABLE "devices" ADD COLUMN     "capabilities" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "tasks" ADD COLUMN     "images" TEXT;

-- CreateTable
CREATE TABLE "slash_commands" (
    "device_id" TEXT NOT NULL,
    "native_id" TEXT NOT NULL,
    "commands" JSONB NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "slash_commands_pkey" PRIMARY KEY ("device_id","native_id")
);

-- CreateIndex
CREATE INDEX "slash_commands_reported_at_idx" ON "slash_commands"("reported_at");

-- AddForeignKey
ALTER TABLE "slash_commands" ADD CONSTRAINT "slash_commands_device_id_fkey" FOREIGN KEY ("device_id") REFERENCES "devices"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- Base64 does not become smaller.
ALTER TABLE "tasks" ALTER COLUMN "images" SET STORAGE EXTERNAL;
