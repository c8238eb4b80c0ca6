import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { paths } from "../generated/api.ts";
import { type Client, dataOf } from "./clients.ts";
import { setting, stack } from "./stack.ts";

type NewSession = paths["/api/sessions"]["post"]["requestBody"];

export const createSession = (
  caller: Client,
  body: NonNullable<NewSession>["content"]["application/json"] = {},
) => dataOf(caller.api.POST("/api/sessions", { body }));

/** A file in the local sandbox of a session, as a command would leave it. */
export async function writeSandboxFile(
  sessionId: string,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const file = join(setting("DATA_DIR"), "sandboxes", sessionId, "home", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

/** Whether the local sandbox of a session has files on disk. */
export function sandboxFolderExists(sessionId: string): Promise<boolean> {
  return access(join(setting("DATA_DIR"), "sandboxes", sessionId)).then(
    () => true,
    () => false,
  );
}

/**
 * A turn whose command would run far longer than any test may: it only ends when it is stopped.
 * Resolves once the command is under way; `stream` has all that was sent, when the stream ended.
 */
export async function startEndlessTurn(
  caller: Client,
  ids: { sessionId: string; chatId: string },
): Promise<{ stream: Promise<string> }> {
  const provisioned = await caller.post("/api/sandbox", { sessionId: ids.sessionId });
  if (provisioned.status !== 200) throw new Error(`POST /api/sandbox: ${provisioned.text}`);
  const response = await fetch(`${stack.url}/api/chat`, {
    method: "POST",
    headers: { ...caller.headers, "content-type": "application/json" },
    body: JSON.stringify({ ...ids, messages: [{ id: "endless", content: "run: sleep 100" }] }),
  });
  if (!response.ok || !response.body) throw new Error(`POST /api/chat: ${await response.text()}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readOn = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
    }
  };
  await readOn(() => text.includes("tool-input-available"));
  return { stream: readOn(() => false).then(() => text) };
}
