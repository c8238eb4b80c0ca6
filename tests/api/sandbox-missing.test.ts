/** What every request for files of a sandbox is answered where there is no sandbox that works. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { createSandbox, createSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { setting, sql } from "../support/harness/stack.ts";

/** Returns the answers by what they fail to do. */
const ask = async (caller: Client, sessionId: string) => {
  const folder = `?sessionId=${sessionId}`;
  const file = `${folder}&path=notes.txt`;
  return [
    ["read", await caller.get(`/api/sandbox/archive${folder}`)],
    ["read", await caller.get(`/api/sandbox/files${folder}`)],
    ["read", await caller.get(`/api/sandbox/files/content${file}`)],
    ["write", await caller.request("PUT", `/api/sandbox/files/content${file}`, { body: {} })],
    ["write", await caller.delete(`/api/sandbox/files${file}`)],
  ] as const;
};

test("400 without a sandbox, and when it has expired", async () => {
  const { withKey } = await createPerson();
  const { session } = await createSession(withKey);
  const expired = await createSandbox(withKey);
  await rm(join(setting("DATA_DIR"), "sandboxes", expired), { recursive: true });
  for (const id of [session.id, expired]) {
    for (const [, answer] of await ask(withKey, id)) {
      expectError(answer, 400, "error", "Sandbox not initialized", "sandbox_missing");
    }
  }
});

test("502 when the provider fails", async () => {
  const { withKey } = await createPerson();
  const sessionId = await createSandbox(withKey);
  await sql`update sessions set sandbox_state = jsonb_set(sandbox_state, '{name}', '"no/such/name"')
    where id = ${sessionId}`;
  for (const [what, answer] of await ask(withKey, sessionId)) {
    expectError(answer, 502, "error", `Failed to ${what} sandbox files`, "upstream_error");
  }
});
