import { isKnownModel } from "@/lib/agent/models/resolve.ts";
import { type AppError, appError } from "@/lib/contract/app-error.ts";

/** Errors: 400 when the id is none of `GET /api/models`. */
export async function checkModel(
  modelId: string,
  field = "modelId",
): Promise<AppError | undefined> {
  if (await isKnownModel(modelId)) return undefined;
  return appError("invalid_request", `${field} must be one of the available models`, {
    fields: [field],
  });
}
