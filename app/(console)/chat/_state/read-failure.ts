import type { UIMessage } from "ai";
import type { z } from "zod";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import { type ChatError, toChatError } from "./chat-error.ts";
import { textAt } from "./tool-call.ts";

type Runs = z.output<(typeof listRunsContract)["responses"][200]["schema"]>;

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
  const [run] = ((await response.json()) as Runs).runs;
  return run?.status === "failed" && run.error ? toChatError(new Error(run.error)) : null;
}
