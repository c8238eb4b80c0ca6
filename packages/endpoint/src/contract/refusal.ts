import { z } from "zod";
import type { AppError } from "./app-error.ts";

/**
 * Returns the schema of a SQL function's `{refused}` result, by the errors' keys.
 * @param name the function's name for it
 */
export const refusalOf = <R extends string>(
  errors: Readonly<Record<R, AppError>>,
  name = "refused",
) =>
  z
    .object({ [name]: z.enum(Object.keys(errors) as [R, ...R[]]) })
    .transform((answer): AppError => errors[answer[name] as R]);
