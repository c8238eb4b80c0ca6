/** Runs that ask, answered by the library and by the command line, in front of a scripted model. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../packages/client/src/index.ts";
import type { Script } from "../support/fakes/openai.ts";
import { provideChatServer } from "../support/harness/chat-browser.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { readGuideCode } from "../support/harness/guide-code.ts";
import { type PackedClient, runCommand } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";

const execute = promisify(execFile);

/** @param packed the package, installed */
export function approvalsSuite(packed: () => PackedClient): void {
  const place = provideChatServer();
  let person: Person;
  beforeAll(async () => {
    person = await createPerson(place.server.url);
  });

  const connect = () =>
    packed().module.createClient({ baseUrl: place.server.url, apiKey: person.key });

  /** Asks for a command and for a file at once, then says how it went. */
  const asking: Script = function* ({ step, toolResults }) {
    if (step === 0) {
      yield { tool: "bash", id: "run", input: { command: "echo has run" } };
      yield { tool: "write", id: "write", input: { filePath: "a.txt", content: "a" } };
    } else yield { text: `Told ${toolResults.join(" | ")}` };
  };
  const approvals = { bash: "ask", write: "ask" };
  const start = async (script: string) => {
    place.model.script(script, asking);
    const body = { prompt: `[script:${script}]`, approvals };
    const { body: run } = await person.withKey.post("/api/chat/runs", body);
    return Object(run).runId as string;
  };
  const resultsOf = (script: string) => place.model.callsOf(script).at(-1)?.toolResults;

  it("answers each request once, with the reason of a denial", async () => {
    place.model.script("library", asking);
    const requests: ApprovalRequest[] = [];
    const { status, required_action } = await connect().run({
      prompt: "[script:library]",
      more: { approvals },
      onApproval(request) {
        requests.push(request);
        if (request.category === "bash") return { approved: true };
        return Promise.resolve({ approved: false, reason: "No files" });
      },
    });
    expect({ status, required_action }).toEqual({ status: "completed", required_action: null });
    expect(requests).toMatchObject([
      { tool: "bash", input: { command: "echo has run" } },
      { tool: "write", input: { filePath: "a.txt" }, sources: [] },
    ]);
    expect(resultsOf("library")).toEqual([
      expect.stringContaining("has run"),
      expect.stringContaining("denied this: No files"),
    ]);
  });

  it("ends the waiting with what onApproval throws, and continues when another client is faster", async () => {
    const runId = await start("approval-faster");
    const failing = connect().waitForRun(runId, {
      onApproval: () => Promise.reject(new Error("No one is there")),
    });
    await expect(failing).rejects.toThrow("No one is there");
    const { status } = await connect().waitForRun(runId, {
      async onApproval({ id }) {
        const path = `/api/chat/runs/${runId}/approvals/${id}`;
        await person.withKey.post(path, { approved: false });
        return { approved: true };
      },
    });
    expect(status).toBe("completed");
    expect(resultsOf("approval-faster")?.join()).not.toContain("has run");
  });

  it("works as the guide says", async () => {
    const file = join(packed().folder, "approvals.ts");
    await writeFile(file, await readGuideCode("approvals.md", "ts"));
    const env = { PATH: process.env.PATH, NODE_ENV: "production", API: stack.url } as const;
    const { key } = await createPerson();
    const { stdout } = await execute(process.execPath, [file], { env: { ...env, KEY: key } });
    expect(stdout).toBe("completed\n");
  });

  describe("the command line", () => {
    const command = (...args: string[]) => {
      const env = { AGENT_PLATFORM_URL: place.server.url, AGENT_PLATFORM_API_KEY: person.key };
      return runCommand(packed(), args, { env });
    };

    it("prints what waits without a terminal and is 4, then answers by its options", async () => {
      const runId = await start("options");
      const waiting = await command("runs", "get", runId);
      expect(waiting).toMatchObject({
        code: 4,
        stdout: expect.stringMatching(
          /^\S+ {2}bash\nRun this command\?\n {4}Command: echo has run\n\S+ {2}write\n/,
        ),
        stderr: expect.stringContaining(`/api/chat/runs/${runId}/approvals/`),
      });
      const half = await command("runs", "get", "--approve", "bash", runId);
      expect(half).toMatchObject({ code: 4, stdout: expect.stringMatching(/^\S+ {2}write\n/) });
      const rest = await command("runs", "get", "--deny", runId);
      expect(rest).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Told .*has run/s) });
      expect(resultsOf("options")?.[1]).toContain("The user has denied this");
    });

    it("takes the options of a new run, and refuses an unknown kind", async () => {
      place.model.script("started", asking);
      await person.withKey.patch("/api/accounts/me", { approvals });
      const kinds = ["--approve", "bash", "--approve", "write"];
      const started = await command("run", ...kinds, "[script:started]");
      await person.withKey.patch("/api/accounts/me", { approvals: {} });
      expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Told .*has run/s) });
      expect(await command("run", "--approve", "all", "hello")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--approve takes bash, fetch"),
      });
    });

    it("of a chat says how to answer", async () => {
      place.model.script("approval-chat", asking);
      await person.withKey.patch("/api/accounts/me", { approvals });
      const asked = await command("chat", "[script:approval-chat]");
      await person.withKey.patch("/api/accounts/me", { approvals: {} });
      expect(asked).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/Answer it with: agent-platform runs get wrun_\S+\n/),
      });
    });
  });
}
