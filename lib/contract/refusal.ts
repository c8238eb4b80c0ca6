import { z } from "zod";
import type { AppError } from "./app-error.ts";

/** Returns the schema that reads what a SQL function answers as `{refused}`, by the errors' keys. */
export const refusalOf = <R extends string>(errors: Readonly<Record<R, AppError>>) =>
  z
    .object({ refused: z.enum(Object.keys(errors) as [R, ...R[]]) })
    .transform(({ refused }): AppError => errors[refused as R]);
