import { waitUntil } from "@vercel/functions";
import { log } from "../platform/log.ts";
import { processWide } from "../platform/process-wide.ts";

/**
 * Tells this process that a chat in which turns wait is free. What begins them is given at the start of
 * the process, because it starts the workflow whose steps call this.
 */
class TurnQueue {
  begin: (chatId: string) => Promise<void> = async () => {};

  /**
   * Never rejects, because what is not begun now is found by the timer of any process. Keeps a function
   * on Vercel alive until it resolves.
   */
  wake(chatId: string): Promise<void> {
    const begun = this.begin(chatId).catch((error: unknown) =>
      log().warn({ err: error, chatId }, "a waiting turn could not be begun"),
    );
    waitUntil(begun);
    return begun;
  }
}

export const turnQueue = () => processWide("turn queue", () => new TurnQueue());
