import { RetryError } from "ai";
import type { AppError } from "../../contract/app-error.ts";

/** A model call was not made, because it would exceed the account's budget or could not count against it. */
export class BudgetRefusal extends Error {
  override readonly name = "BudgetRefusal";
  readonly code = "BUDGET_REFUSED";
  constructor({ code, message }: AppError) {
    super(`${code}: ${message}`);
  }
}

/** Compares the code, because the bundle of the engine's steps has its own class. */
export function isBudgetRefusal(error: unknown): error is BudgetRefusal {
  return error instanceof Error && "code" in error && error.code === "BUDGET_REFUSED";
}

/** Returns the refusal that an AI SDK function has failed with, if it is one. */
export function budgetRefusalIn(failure: unknown): BudgetRefusal | undefined {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  return isBudgetRefusal(cause) ? cause : undefined;
}
