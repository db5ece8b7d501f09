-- An address of an app ends with the sign-in of that app.
-- compatible-with: 1.0.0
-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "chain" TEXT;
