/** The files that commands have written to the account's workspace, from the sandboxes of all chats. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { readWorkspaceFile } from "../../support/fixtures/workspace-files.ts";
import type { Node } from "./cluster.ts";
import type { Model } from "./model.ts";
import { callerAt } from "./requests.ts";

/**
 * Expects the file of each call to be stored, and its line in the file of all chats or in the copy that a
 * conflict has left of it, once a turn has ended in each chat without a fault.
 */
export async function expectFilesStored(model: Model, node: Node): Promise<void> {
  const { sql, readSandboxFile } = model.cluster.workspace;
  const kept = model.chats.filter(
    ({ state, session }) => state === "there" && session.state === "there",
  );
  const effects = await Promise.all(
    kept.map(({ conversation }) => readSandboxFile(conversation.sessionId, "effects")),
  );
  const ids = effects.flatMap((text) => text.split("\n").filter(Boolean));
  const files = await sql`
    select f.path, c.sha256 from workspace_files f join workspace_contents c on c.id = f.content_id
    where f.workspace_id = ${model.accountId} and c.is_stored`;
  const digests = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const changed = ids.filter(
    (id) => digests.get(`calls/${id}`) !== createHash("sha256").update(`${id}\n`).digest("hex"),
  );
  expect(changed, "files that are not stored").toEqual([]);
  const shared = files.map(({ path }) => String(path)).filter((path) => !path.includes("/"));
  const texts = await Promise.all(
    shared.map((path) => readWorkspaceFile(callerAt(model, node), path)),
  );
  const lines = new Set(texts.flatMap((text) => text.split("\n")));
  expect(ids.filter((id) => !lines.has(id))).toEqual([]);
}
