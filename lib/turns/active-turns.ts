import { type AppError, appError } from "../contract/app-error.ts";

/** The answer to an account that has `ACCOUNT_ACTIVE_TURNS` turns already. */
export const tooManyTurns: AppError = appError(
  "rate_limited",
  "Too many active turns: wait for one to end, or stop one",
  { headers: { "retry-after": "5" } },
);
