-- Refusals that repeat are counted in one entry of the audit.
-- compatible-with: 1.0.0
-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "times" INTEGER NOT NULL DEFAULT 1;
