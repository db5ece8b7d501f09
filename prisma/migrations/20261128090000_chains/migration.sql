-- An address of an app ends with the sign-in of that app.
-- compatible-with: 1.0.0
-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "chain" TEXT;
-- An address that a person typed ends with the program alone: other releases delete what has a "client".
ALTER TABLE "subscriptions" ADD COLUMN     "typed_in" TEXT;
