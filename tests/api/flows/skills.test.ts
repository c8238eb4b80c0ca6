/** How agents load skills. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ScriptPart } from "../../support/fakes/openai.ts";
import { makeArtist, makeOrganization } from "../../support/fixtures/people.ts";
import { readResult } from "../../support/fixtures/shown-result.ts";
import { skillText } from "../../support/fixtures/skills.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";

const place = provideChatServer();

const person = () => createPerson(place.server.url);
const newName = () => `skill-${randomUUID().slice(0, 8)}`;
const put = (caller: Client, name: string, files: object) =>
  caller.request("PUT", `/api/skills/${name}`, { body: { files } });

/** Runs these calls, one in each step, and returns the run as it has ended. */
async function runWith(caller: Client, calls: readonly ScriptPart[], more = {}) {
  const script = randomUUID();
  let next = 0;
  place.model.script(script, function* () {
    yield calls[next++] ?? { text: "Done." };
  });
  const ended = await waitForRun(
    caller,
    await startRun(caller, { prompt: `[script:${script}]`, ...more }),
  );
  const steps = place.model.callsOf(script);
  return {
    ended,
    instructions: String(steps[0]?.messages[0]?.content),
    /** The tools of each model call. */
    tools: steps.map(({ toolSchemas }) => Object.keys(toolSchemas).sort()),
    results: (steps.at(-1)?.toolResults ?? []).map(readResult),
  };
}

describe("an agent", () => {
  it("knows the skills from its instructions, loads one with its files, and the run records it", async () => {
    const { withKey } = await person();
    const name = newName();
    await put(withKey, name, { "SKILL.md": skillText(name), "scripts/it.sh": "echo works $1" });
    const { ended, instructions, results } = await runWith(withKey, [
      { tool: "skill", input: { skill: name, args: "the label" } },
      { tool: "bash", input: { command: `sh .skills-loaded/${name}/scripts/it.sh now` } },
      { tool: "skill", input: { skill: "nothing-like-it" } },
    ]);
    expect(instructions).toContain(`- ${name}: How to do ${name}`);
    expect(instructions).toContain("- platform-api: ");
    expect(results[0]).toEqual({
      skill: name,
      path: `.skills-loaded/${name}/SKILL.md`,
      instructions: `\nDo ${name} for the label.\n`,
      source: "account",
      version: 1,
    });
    expect(results[1]).toMatchObject({ stdout: "works now\n" });
    expect(results[2]).toMatchObject({ error: expect.stringContaining(name) });
    expect(ended.skills).toEqual([
      { name, source: "account", version: 1, sha256: expect.any(String) },
    ]);
    const idsWith = async (skill: string) => {
      const { body } = await withKey.get(`/api/chat/runs?skill=${skill}`);
      return z.object({ runs: z.array(z.object({ runId: z.string() })) }).parse(body).runs;
    };
    expect(await idsWith(name)).toMatchObject([{ runId: ended.runId }]);
    expect(await idsWith("nothing-like-it")).toEqual([]);
  });

  it("has the files of a skill before a command of the same step, whichever is called first", async () => {
    const { withKey } = await person();
    const name = newName();
    await put(withKey, name, { "SKILL.md": skillText(name), "scripts/it.sh": "echo works" });
    const script = crypto.randomUUID();
    place.model.script(script, function* ({ step }) {
      if (step > 0) return yield { text: "Done." };
      yield { tool: "bash", input: { command: `sh .skills-loaded/${name}/scripts/it.sh` } };
      yield { tool: "skill", input: { skill: name } };
    });
    const started = await startRun(withKey, { prompt: `[script:${script}]` });
    expect((await waitForRun(withKey, started)).status).toBe("completed");
    const [ran] = place.model.callsOf(script).at(-1)?.toolResults ?? [];
    expect(readResult(ran)).toMatchObject({ stdout: "works\n", exitCode: 0 });
  });

  it("follows the skills of its template from the start, and says which are missing", async () => {
    const { withKey } = await person();
    const name = newName();
    await put(withKey, name, { "SKILL.md": skillText(name, "", "Count twice."), "a.txt": "A" });
    const template = await withKey.post("/api/agents/templates", {
      title: "Counting",
      description: "Counts things carefully",
      prompt: "You count things for the label.",
      tags: [],
      is_private: true,
      skills: [name, "missing-one"],
    });
    const { id } = z
      .object({ template: z.object({ id: z.string() }) })
      .parse(template.body).template;
    const { ended, instructions, results } = await runWith(
      withKey,
      [{ tool: "bash", input: { command: `cat .skills-loaded/${name}/a.txt` } }],
      { template_id: id },
    );
    expect(instructions).toContain("Count twice.");
    expect(instructions).toContain(
      "The skill missing-one, which this work is to follow, is not available",
    );
    expect(results[0]).toMatchObject({ stdout: "A" });
    expect(ended.skills).toMatchObject([{ name, version: 1 }]);
  });

  it("loads nothing that was disabled, and prefers a skill of its sandbox", async () => {
    const { withKey } = await person();
    const name = newName();
    await put(withKey, name, { "SKILL.md": skillText(name) });
    await withKey.patch(`/api/skills/${name}`, { enabled: false });
    await withKey.patch("/api/skills/platform-api", { enabled: false });
    const { ended, instructions, results } = await runWith(withKey, [
      { tool: "skill", input: { skill: name } },
      { tool: "skill", input: { skill: "platform-api" } },
      {
        tool: "write",
        input: { filePath: `skills/${name}/SKILL.md`, content: skillText(name, "", "Ours.") },
      },
      { tool: "skill", input: { skill: name } },
    ]);
    expect(instructions).not.toContain(name);
    expect(instructions).not.toContain("platform-api");
    expect(results[0]).toHaveProperty("error");
    expect(results[1]).toHaveProperty("error");
    expect(results[3]).toMatchObject({ instructions: "\nOurs." });
    expect(ended.skills).toEqual([{ name, source: "sandbox", version: null, sha256: null }]);
  });

  it("has the tools that the skill of its start allows, and keeps them when it loads another", async () => {
    const { withKey } = await person();
    const [first, later] = [newName(), newName()];
    const allowing = (name: string, tools: string) =>
      put(withKey, name, { "SKILL.md": skillText(name, `allowed-tools: ${tools}\n`) });
    await allowing(first, "[Bash(git:*), Skill, Unknown]");
    await allowing(later, "Read");
    const calls = [{ tool: "skill", input: { skill: later } }];
    const { tools, results } = await runWith(withKey, calls, { skills: [first] });
    expect(tools).toEqual([
      ["bash", "skill"],
      ["bash", "skill"],
    ]);
    expect(results[0]).toMatchObject({ skill: later });
    const { tools: all } = await runWith(withKey, calls);
    expect(all[1]).toEqual(all[0]);
    expect(all[1]).toContain("write");
  });

  it("finds the organization in its sandbox where exactly one applies", async () => {
    const { withKey } = await person();
    const organizationIn = async (more = {}) => {
      const command = "echo $RECOUP_ORG_ID";
      const { results } = await runWith(withKey, [{ tool: "bash", input: { command } }], more);
      return z.object({ stdout: z.string() }).parse(results[0]).stdout.trim();
    };
    expect(await organizationIn()).toBe("");
    const organization = await makeOrganization(withKey);
    expect(await organizationIn()).toBe(organization);
    const artistId = await makeArtist(withKey, await makeOrganization(withKey, "Other"));
    expect(await organizationIn()).toBe("");
    expect(await organizationIn({ artistId })).toMatch(/^[0-9a-f-]{36}$/);
    expect(await organizationIn({ artistId })).not.toBe(organization);
    const own = await makeArtist(withKey);
    expect(await organizationIn({ artistId: own })).toBe("");
  });

  it("learns this service's API from its contracts", async () => {
    const { withKey } = await person();
    const { ended, results } = await runWith(withKey, [
      { tool: "skill", input: { skill: "platform-api" } },
      { tool: "bash", input: { command: "cat .skills-loaded/platform-api/references/artists.md" } },
      {
        tool: "bash",
        input: {
          command:
            'curl -sS -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL/api/skills/platform-api" | head -c 400',
        },
      },
      {
        tool: "bash",
        input: {
          command:
            'curl -sS -X PUT -H "x-api-key: $RECOUP_API_KEY" -d "{}" "$RECOUP_API/skills/mine"',
        },
      },
    ]);
    expect(results[0]).toMatchObject({ instructions: expect.stringContaining("GET /api/artists") });
    expect(results[0]).not.toMatchObject({ instructions: expect.stringContaining("/api/keys") });
    expect(results[1]).toMatchObject({
      stdout: expect.stringContaining('"$AGENT_API_URL/api/artists'),
    });
    expect(results[2]).toMatchObject({ stdout: expect.stringContaining('"source":"built-in"') });
    // A run reads skills, and never writes them.
    expect(results[3]).toMatchObject({ stdout: expect.stringContaining("cannot be used here") });
    expect(ended.skills).toMatchObject([
      { name: "platform-api", source: "built-in", version: null },
    ]);
  });
});
