import type { UIMessage } from "ai";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import { ApiError } from "@/packages/client/src/api-error.ts";
import { describeError, unreachable } from "../../_api/describe-error.ts";
import type { Answer } from "../../_api/request.ts";
import { textAt } from "./tool-call.ts";

/** What a chat's page says about a failure. */
export interface ChatError {
  readonly text: string;
  readonly requestId: string | null;
  readonly link?: { readonly href: string; readonly label: string };
}

export const unreachableChat: ChatError = { text: unreachable, requestId: null };

export const outdatedPage: ChatError = {
  text: "A new version is available. Reload the page, then send your message.",
  requestId: null,
};

/** What the error of a turn begins with that its budget has ended. */
const BUDGET_CODES: readonly string[] = ["budget_reached", "unpriced_model"];

/** The names of the limits of a turn. */
const LIMITS: Readonly<Record<string, string>> = {
  max_cost_usd: "cost limit",
  max_steps: "limit of steps",
  max_duration_s: "time limit",
};

/** Returns the text for a refused request, or for a turn that ended with an error. */
export function toChatError(error: Error): ChatError {
  if (!(error instanceof ApiError)) {
    const [code = ""] = error.message.split(":");
    if (BUDGET_CODES.includes(code)) {
      const text = describeError({ status: 402, code });
      return { text, requestId: null, link: { href: "/usage", label: "Open budget" } };
    }
    if (code === "limit_reached") {
      const limit = LIMITS[error.message.slice("limit_reached: ".length)] ?? "limit";
      const text = `This answer has reached its ${limit}. The work until then is kept.`;
      return { text, requestId: null };
    }
    return { text: error.message.replace(/^[a-z_]+: /, "").replace(/\.?$/, "."), requestId: null };
  }
  const isBusy = error.code === "conflict";
  return {
    text: isBusy
      ? "The agent is answering in this chat. Wait for its end, or stop it."
      : describeError(error),
    requestId: error.requestId,
    ...(error.code === "budget_reached" && { link: { href: "/settings", label: "Open settings" } }),
  };
}

/**
 * Returns why the newest turn of a chat has failed, which the stored answer does not say; null when it has
 * not failed, or the cause cannot be read. The run's error is written for people, as that of a stream is.
 */
export async function readFailure(
  last: UIMessage | undefined,
  chatId: string,
  fetch: (path: string, init: RequestInit) => Promise<Response | null>,
): Promise<ChatError | null> {
  if (textAt(last?.metadata, "finishReason") !== "error") return null;
  const response = await fetch(`/api/chat/runs?limit=1&chat_id=${chatId}`, {});
  if (!response?.ok) return null;
  const [run] = ((await response.json()) as Answer<typeof listRunsContract>).runs;
  return run?.status === "failed" && run.error ? toChatError(new Error(run.error)) : null;
}
