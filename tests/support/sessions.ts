import { access } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Chat, chat, type Session, session } from "../../lib/sessions/session.ts";
import type { Client } from "./clients.ts";
import { setting } from "./stack.ts";

const created = z.object({ session, chat });

export async function createSession(
  caller: Client,
  body: { title?: string; artistId?: string; organization_id?: string } = {},
): Promise<{ session: Session; chat: Chat }> {
  const answer = await caller.post("/api/sessions", body);
  if (answer.status !== 201) throw new Error(`POST /api/sessions: ${answer.status} ${answer.text}`);
  return created.parse(answer.body);
}

/** Whether the local sandbox of a session has files on disk. */
export function sandboxFolderExists(sessionId: string): Promise<boolean> {
  return access(join(setting("DATA_DIR"), "sandboxes", sessionId)).then(
    () => true,
    () => false,
  );
}
