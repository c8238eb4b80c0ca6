/**
 * Turns every outcome into a response with the shared headers. An error has the shape of the endpoint's
 * family; a throw is an outage (503), a refused slot (429 or 503) or a defect (500 with a fixed text).
 */
import { type AppError, appError, isAppError } from "../../contract/app-error.ts";
import { IdentityProviderUnavailable } from "../../identity/credentials/identity-provider.ts";
import { isDatabaseUnavailable } from "../../platform/database/unavailable.ts";
import { isQueueRefusal } from "../../platform/fair-queue.ts";
import { queueRefused } from "../../platform/queue-refused.ts";
import { errorResponse } from "../error-response.ts";
import type { Exchange } from "../exchange.ts";
import { addRateHeaders } from "../rate-limit.ts";
import { withSharedHeaders } from "../shared-headers.ts";

export interface Answer {
  readonly response: Response;
  /** The cause of an error, for the log; undefined for a success. */
  readonly cause: unknown;
}

export async function respond(
  exchange: Exchange,
  answer: () => Promise<AppError | Response>,
): Promise<Answer> {
  const { plan, request, requestId } = exchange;
  const { contract } = plan;
  const { outcome, cause } = await answer().then(
    (result) => ({ outcome: result, cause: isAppError(result) ? result.message : undefined }),
    (error: unknown) => ({
      outcome: request.signal.aborted ? clientGone : failureOf(error),
      cause: error,
    }),
  );
  const made = isAppError(outcome) ? errorResponse(outcome, contract.family) : outcome;
  const response = withSharedHeaders(made, requestId, contract.auth !== "none");
  if (exchange.rate) addRateHeaders(response.headers, exchange.rate);
  return { response, cause };
}

const clientGone = appError("invalid_request", "The client closed the request");

function failureOf(error: unknown): AppError {
  if (isQueueRefusal(error)) return queueRefused(error);
  if (isDatabaseUnavailable(error) || error instanceof IdentityProviderUnavailable) {
    return appError("unavailable", "Service temporarily unavailable", {
      headers: { "retry-after": "1" },
    });
  }
  return appError("internal", "Internal server error");
}
