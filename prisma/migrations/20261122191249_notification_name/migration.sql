-- AlterTable
ALTER TABLE "notifications" ADD COLUMN     "name" TEXT;
