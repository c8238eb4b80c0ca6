import { RetryError } from "ai";

/** A model call was not made, because of the account's budget or a limit of its run. */
export class BudgetRefusal extends Error {
  override readonly name = "BudgetRefusal";
  readonly code = "BUDGET_REFUSED";
  constructor({ code, message }: { readonly code: string; readonly message: string }) {
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
