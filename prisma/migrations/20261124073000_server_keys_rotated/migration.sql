-- AlterTable
ALTER TABLE "server_keys" ADD COLUMN     "rotated_at" TIMESTAMPTZ(3);
