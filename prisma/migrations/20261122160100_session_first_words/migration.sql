-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "first_words" TEXT;
