-- AlterTable
ALTER TABLE "devices" ADD COLUMN     "agents" JSONB NOT NULL DEFAULT '[]';
