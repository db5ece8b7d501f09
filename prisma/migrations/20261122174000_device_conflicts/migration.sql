-- AlterTable
ALTER TABLE "device_connections" ADD COLUMN     "address" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "answered" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "hostname" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "devices" ADD COLUMN     "conflict" JSONB;

-- AlterTable
ALTER TABLE "notifications" ADD COLUMN     "device_id" TEXT;
