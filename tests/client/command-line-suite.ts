/** The command line, as a shell runs it. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { writeSandboxFile } from "../support/fixtures/sessions.ts";
import { createPerson, type Person, unknownKey } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { type PackedClient, runCommand } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

const messagesSchema = z.object({
  messages: z.array(
    z.object({ parts: z.array(z.object({ type: z.string(), text: z.string().optional() })) }),
  ),
});

/** @param packed the package, installed */
export function commandLineSuite(packed: () => PackedClient): void {
  let person: Person;
  beforeAll(async () => {
    person = await createPerson();
  });

  /** Runs a command, by default with the person's key in the environment. */
  const run = (
    args: readonly string[],
    more: { env?: Record<string, string>; input?: string } = {},
  ) =>
    runCommand(packed(), args, {
      env: {
        AGENT_PLATFORM_URL: stack.url,
        ...(more.env ?? { AGENT_PLATFORM_API_KEY: person.key }),
      },
      ...(more.input === undefined ? {} : { input: more.input }),
    });

  it.each([
    [["--help"], 0, /run \[--detach\].*eval compare/s],
    [["chat", "--help"], 0, /chat \[--session ID/],
    [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
  ])("%j says how it is used or what it is", async (args, code, text) => {
    const outcome = await run(args);
    expect(outcome).toMatchObject({ code, stdout: expect.stringMatching(text), stderr: "" });
  });

  it.each([
    [["dance"], 'Unknown command "dance"'],
    [["constructor"], 'Unknown command "constructor"'],
    [["run"], "PROMPT is missing"],
    [["run", "--loud", "hello"], "--loud"],
    [["run", "--effort", "greatest", "hello"], "--effort takes low, medium, high"],
    [["run", "--max-cost", "much", "hello"], "--max-cost takes a number above 0"],
    [["files", "push", "a.txt"], "a.txt is not a folder. A file of a sandbox needs --session"],
    [["files", "list"], "--session is missing"],
    [["skills", "push", "."], ". has no SKILL.md"],
    [["keys", "lose"], "keys takes list, create or revoke"],
  ])("%j is a wrong command line: 2", async (args, sentence) => {
    const outcome = await run(args);
    expect(outcome).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  });

  it.each([
    [["keys", "list"]],
    [["chat", "hello"]],
    [["files", "push", "--session", "x", "no-such-file"]],
  ])("%j without a login is 3, and says what to do", async (args) => {
    const stderr = `Not signed in to ${stack.url}. Run "agent-platform login", or set AGENT_PLATFORM_API_KEY.\n`;
    expect(await run(args, { env: {} })).toEqual({ code: 3, stdout: "", stderr });
  });

  it("an unknown key is 3", async () => {
    const outcome = await run(["keys", "list"], { env: { AGENT_PLATFORM_API_KEY: unknownKey() } });
    expect(outcome).toEqual({ code: 3, stdout: "", stderr: "Unauthorized\n" });
  });

  it("a service that is not there is 1, at once", async () => {
    const outcome = await run(["keys", "list"], {
      env: { AGENT_PLATFORM_URL: "http://127.0.0.1:9", AGENT_PLATFORM_API_KEY: person.key },
    });
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toContain("fetch failed: ");
  });

  describe("login", () => {
    it.each(["", "\n"])("is 2 without a terminal and without a key: %j", async (input) => {
      const outcome = await run(["login"], { env: {}, input });
      expect(outcome).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/^API key is missing: .+ pipe it to stdin\n/),
      });
    });

    it("stores a key that is piped in, for its owner's eyes only, and forgets it", async () => {
      const refused = await run(["login"], { env: {}, input: `${unknownKey()}\n` });
      expect(refused).toMatchObject({ code: 3, stderr: "Unauthorized\n" });
      const done = await run(["login", "--url", stack.url], { env: {}, input: `${person.key}\n` });
      expect(done).toMatchObject({ code: 0, stdout: expect.not.stringContaining(person.key) });
      const file = join(packed().folder, "agent-platform/config.json");
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
        baseUrl: stack.url,
        apiKey: person.key,
      });
      expect(await run(["keys", "list"], { env: {} })).toMatchObject({ code: 0 });
      // The stored key is not sent to another service.
      const elsewhere = await run(["keys", "list"], {
        env: { AGENT_PLATFORM_URL: stack.url.replace("127.0.0.1", "localhost") },
      });
      expect(elsewhere.code).toBe(stack.url.includes("127.0.0.1") ? 3 : 0);
      expect(await run(["login", "--logout"], { env: {} })).toMatchObject({ code: 0 });
      expect(await run(["keys", "list"], { env: {} })).toMatchObject({ code: 3 });
    });
  });

  describe("run", () => {
    it("prints the answer, without colors and progress where there is no terminal", async () => {
      const outcome = await run(["run", "count", "to", "3"]);
      expect(outcome).toEqual({ code: 0, stderr: "", stdout: expect.stringContaining("3") });
      expect(outcome.stdout).not.toContain("\u001b");
    });

    it("prints the whole run with --json; runs get reads it again", async () => {
      const schema = z.object({ runId: z.string(), status: z.string(), answer: z.string() });
      const { stdout } = await run(["run", "--json", "count to 3"]);
      const first = schema.parse(JSON.parse(stdout));
      expect(first.status).toBe("completed");
      const again = await run(["runs", "get", "--json", first.runId]);
      expect(schema.parse(JSON.parse(again.stdout))).toEqual(first);
      expect(await run(["runs", "get", "wrun_none"])).toMatchObject({
        code: 1,
        stderr: "Run not found\n",
      });
    });

    it("prints the output of a run with a schema", async () => {
      const file = join(packed().folder, "schema.json");
      await writeFile(file, JSON.stringify({ type: "object", required: ["n"] }));
      const outcome = await run(["run", "--schema", file, 'submit `{"n": 1}`']);
      expect(outcome).toEqual({ code: 0, stderr: "", stdout: '{\n  "n": 1\n}\n' });
      const json = await run(["run", "--json", "--schema", file, 'submit `{"n": 2}`']);
      expect(JSON.parse(json.stdout)).toMatchObject({ status: "completed", output: { n: 2 } });
      expect(await run(["run", "--schema", file, "hello"])).toMatchObject({
        code: 1,
        stderr: "output_invalid: The model stopped without submitting an output\n",
      });
      await writeFile(file, "[");
      for (const [path, sentence] of [
        [file, "has no JSON Schema"],
        ["none.json", "cannot be read"],
      ]) {
        const refused = await run(["run", "--schema", path ?? "", "hello"]);
        expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence ?? "") });
      }
    });

    it("sends the fallback models and the effort", async () => {
      const started = run(["run", "--fallback", "embedded/rules", "--effort", "low", "count to 3"]);
      expect(await started).toMatchObject({ code: 0, stdout: expect.stringContaining("3") });
      const args = ["run", "--fallback", "embedded/rules", "--fallback", "no-such-model", "hello"];
      expect(await run(args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("fallback_models"),
      });
    });

    it("sends the limits, and is 1 with the one that is reached", async () => {
      const limits = ["--max-cost", "0.5", "--max-steps", "1", "--max-duration", "600"];
      const outcome = await run(["run", ...limits, "run `echo done`"]);
      expect(outcome).toMatchObject({ code: 1, stderr: "limit_reached: max_steps\n" });
      expect(await run(["run", "--max-steps", "2", "run `echo done`"])).toMatchObject({ code: 0 });
    });

    it("is 1 when the run is stopped", async () => {
      const { stdout } = await run(["run", "--detach", "run `sleep 100`"]);
      const id = stdout.trim();
      const waiting = run(["runs", "get", id]);
      await expect.poll(async () => (await run(["runs", "cancel", id])).stdout).toBe("Cancelled\n");
      expect(await waiting).toMatchObject({ code: 1 });
      expect((await run(["runs", "list", "--limit", "1"])).stdout).toMatch(
        new RegExp(`^${id}  cancelled  \\S+Z  headless  .+\n$`),
      );
    });
  });

  describe("chat", () => {
    it("streams the answer in a chat of its own, and takes up one that is named", async () => {
      const { sessionId, chatId } = await openConversation(person.withKey);
      const named = ["--session", sessionId, "--chat", chatId];
      const fresh = await run(["chat", "count to 3"]);
      expect(fresh).toMatchObject({ code: 0, stdout: expect.stringContaining("3"), stderr: "" });
      const { code, stdout } = await run(["chat", "--json", ...named, "count to 4"]);
      expect(code).toBe(0);
      const events = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events.map(({ index }) => index)).toEqual(events.map((_, place) => place));
      expect(events.at(-1)).toMatchObject({ type: "chunk", chunk: { type: "finish" } });
      expect(await run(["chat", "--session", sessionId, "hello"])).toMatchObject({ code: 2 });
    });

    it("separates the texts before and after a tool call, live and stored", async () => {
      const { sessionId, chatId } = await openConversation(person.withKey);
      const command = ["--session", sessionId, "--chat", chatId, "run `echo spoken`"];
      const { stdout } = await run(["chat", ...command]);
      const { body } = await person.withKey.get(`/api/sessions/${sessionId}/chats/${chatId}`);
      const parts = messagesSchema.parse(body).messages.at(-1)?.parts ?? [];
      const texts = parts.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : []));
      expect(texts.length).toBeGreaterThan(1);
      expect(stdout).toBe(`${texts.join("\n\n")}\n`);
    });

    it("talks line by line until its input ends", async () => {
      const { code, stdout } = await run(["chat"], { input: "count to 2\n\ncount to 3\n" });
      expect(code).toBe(0);
      expect(stdout.match(/\n/g)?.length).toBeGreaterThanOrEqual(2);
    });

    it("gives a line that comes while the agent works to the running turn", async () => {
      const { sessionId, chatId } = await openConversation(person.withKey);
      const named = ["--session", sessionId, "--chat", chatId];
      const input = "run: while [ ! -e go ]; do sleep 0.05; done\ncount to 3\n";
      const ended = run(["chat", "--steer", "--json", ...named], { input });
      const waiting = () => person.withKey.get(`/api/chat/${chatId}/queue`);
      await expect.poll(async () => (await waiting()).text).toContain("count to 3");
      await writeSandboxFile(sessionId, "go", "");
      const { code, stdout } = await ended;
      expect(code).toBe(0);
      expect(stdout.match(/"steering-message"/g)).toHaveLength(1);
      expect(stdout.match(/"type":"finish"/g)).toHaveLength(1);
      const { body } = await person.withKey.get(`/api/sessions/${sessionId}/chats/${chatId}`);
      expect(messagesSchema.parse(body).messages).toHaveLength(2);
    });
  });

  describe("files, keys and tasks", () => {
    it("push, list and pull a file", async () => {
      const { sessionId } = await openConversation(person.withKey);
      const named = ["--session", sessionId];
      await writeFile(join(packed().folder, "royalties.csv"), "artist,amount\nHana,12.50\n");
      const pushed = await run(["files", "push", ...named, "royalties.csv", "in/q1.csv"]);
      expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining("in/q1.csv") });
      expect((await run(["files", "list", ...named, "in"])).stdout).toMatch(/^25 +\S+ +q1\.csv\n$/);
      expect((await run(["files", "pull", ...named, "in/q1.csv", "-"])).stdout).toBe(
        "artist,amount\nHana,12.50\n",
      );
      expect((await run(["files", "pull", ...named, "in/q1.csv"])).stdout).toBe("q1.csv\n");
      expect(await readFile(join(packed().folder, "q1.csv"), "utf8")).toContain("Hana");
    });

    it("create, list, run and delete a scheduled prompt", async () => {
      const created = await run(["tasks", "create", "--schedule", "0 9 * * MON", "count to 3"]);
      const id = created.stdout.trim();
      expect((await run(["tasks", "list"])).stdout).toMatch(
        new RegExp(`^${id}  0 9 \\* \\* MON  \\S+Z  count to 3\n$`),
      );
      const started = await run(["tasks", "run", id]);
      const ended = await run(["runs", "get", started.stdout.trim()]);
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("3") });
      expect((await run(["tasks", "trigger", id])).stdout).toMatch(
        /^http\S+\/api\/triggers\/[\w-]+\ntrg_[\w-]{43}\n$/,
      );
      const gmail = ["--connector", "gmail", "--event", "TEST_EVENT"];
      expect(await run(["tasks", "trigger", id, ...gmail])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("connect it first"),
      });
      expect(await run(["tasks", "delete", id])).toMatchObject({
        code: 0,
        stdout: `Deleted ${id}\n`,
      });
      expect(await run(["tasks", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(await run(["tasks", "create", "count to 3"])).toMatchObject({ code: 2 });
    });

    it("create, list and revoke a key", async () => {
      const made = await run(["keys", "create", "--days", "7", "laptop"]);
      const key = registerSecret(made.stdout.trim(), "API key");
      const listed = await run(["keys", "list", "--json"]);
      const { keys } = z
        .object({ keys: z.array(z.object({ id: z.string(), key_name: z.string() })) })
        .parse(JSON.parse(listed.stdout));
      const id = keys.find(({ key_name }) => key_name === "laptop")?.id ?? "";
      const env = { AGENT_PLATFORM_API_KEY: key };
      expect(await run(["keys", "list"], { env })).toMatchObject({ code: 0 });
      expect(await run(["keys", "revoke", id])).toMatchObject({
        code: 0,
        stdout: `Revoked ${id}\n`,
      });
      expect(await run(["keys", "list"], { env })).toMatchObject({ code: 3 });
    });
  });
}
