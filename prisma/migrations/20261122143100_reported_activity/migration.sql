-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "reported_activity" TIMESTAMPTZ(3),
ADD COLUMN     "reported_at" TIMESTAMPTZ(3);

