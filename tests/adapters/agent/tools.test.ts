import { fixedTokens } from "@platform/agent/context";
import { systemPrompt } from "@platform/agent/prompt";
import { runTool, toolSchemas } from "@platform/agent/tools";
import {
  COMMAND_DEADLINE_MS,
  MAX_OUTPUT_CHARS,
  MAX_SUBAGENT_STEPS,
} from "@platform/agent/tools/limits";
import { mcpToolName } from "@platform/agent/tools/mcp-tool";
import { describeSkills, turnSkills } from "@platform/skills/prompt-skills";
import { asSchema } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToolFixture, TOKEN } from "../../support/fixtures/agent-tools.ts";

const fixture = await createToolFixture();
const { sandbox, run, remove } = fixture;
afterAll(remove);

describe("the set of tools", () => {
  const names = "bash read write edit grep glob todo task skill fetch".split(" ");

  test("has the eleven names, none with execute, each input an object schema", async () => {
    const tools = toolSchemas({ headless: false });
    expect(Object.keys(tools).sort()).toEqual([...names, "ask_user_question"].sort());
    for (const tool of Object.values(tools)) {
      expect(tool.execute).toBeUndefined();
      expect(tool.description).toBeTruthy();
      expect((await asSchema(tool.inputSchema).jsonSchema).type).toBe("object");
    }
  });

  test("cannot ask if no one is there to answer", () => {
    expect(Object.keys(toolSchemas({ headless: true })).sort()).toEqual([...names].sort());
  });

  test("takes, with the instructions of a plain chat, fewer than 4,500 tokens", async () => {
    const instructions = systemPrompt({
      ...{ headless: false, canSearch: false, canReachWeb: false },
      skills: describeSkills(turnSkills.parse({})),
      workspace: { use: "write", artist_id: null, memory: null },
    });
    expect(await fixedTokens(instructions, toolSchemas({ headless: false }))).toBeLessThan(4_500);
  });

  test("names the limits as they are", () => {
    const tools = toolSchemas({ headless: false });
    const textOf = (name: string) => String(tools[name]?.description);
    expect(textOf("bash")).toContain(`${MAX_OUTPUT_CHARS} characters each`);
    expect(textOf("bash")).toContain(`after ${COMMAND_DEADLINE_MS / 1_000} seconds`);
    expect(textOf("task")).toContain(`at most ${MAX_SUBAGENT_STEPS} steps`);
    // The share of a file that a model receives depends on its context window, so no number would be right.
    expect(textOf("read")).not.toMatch(/\d{3,} characters/);
  });

  const limitedTo = (...fields: readonly string[]) => {
    const loaded = fields.map((field, at) => ({
      name: `s${at}`,
      text: `---\nname: s${at}\n${field === "" ? "" : `allowed-tools: ${field}\n`}---\n`,
    }));
    const skills = { listed: [], disabled: [], loaded };
    return { headless: true, skills, options: { skills: loaded.map(({ name }) => name) } };
  };
  const left = (turn: ReturnType<typeof limitedTo>, more: object = {}) =>
    Object.keys(toolSchemas({ ...turn, ...more })).sort();

  test("is limited by the skills of its start, and never extended", async () => {
    expect(left(limitedTo(""))).toEqual([...names].sort());
    const limited = limitedTo("Bash(git:*, npm run x) Read,WebFetch Unknown web_search", "");
    expect(left(limited)).toEqual(["bash", "fetch", "read"]);
    expect(left(limited, { subagent: {} })).toEqual(["bash", "read"]);
    expect(toolSchemas(limited)).toBe(toolSchemas(limited));
    expect(left(limitedTo("Bash Edit", "[MultiEdit, Grep]"))).toEqual(["edit"]);
    expect(left(limitedTo("Bash", "Read"))).toEqual([]);
    expect(left(limitedTo("Unknown mcp__a__b"))).toEqual([...names].sort());
    const output = { output_schema: { type: "object" } };
    expect(left(limitedTo("Bash"), output)).toEqual(["bash", "submit_output"]);
    const refused = { error: "There is no such tool" };
    const todo = { todos: [] };
    expect(await runTool("todo", todo, fixture.context(), limited)).toEqual(refused);
    expect(await runTool("todo", todo, fixture.context(), limitedTo(""))).not.toEqual(refused);
  });

  test("has those of an option with it alone, and no task creates tasks", async () => {
    const options = { scheduling: true, media_tools: true };
    const more = ["list_schedules", "make_media"];
    const offered = (turn: object) =>
      Object.keys(toolSchemas({ headless: true, options, ...turn }));
    expect(offered({}).sort()).toEqual([...names, ...more, "schedule"].sort());
    expect(offered({ is_of_task: true }).sort()).toEqual([...names, ...more].sort());
    expect(offered({ subagent: {} })).not.toContain("make_media");
    const refused = { error: "There is no such tool" };
    const turn = { options, is_of_task: true };
    expect(await runTool("schedule", {}, fixture.context(), turn)).toEqual(refused);
    expect(await runTool("make_media", {}, fixture.context())).toEqual(refused);
  });

  test.each(names)("%s answers malformed input with an error", async (name) => {
    for (const input of [undefined, null, 1, "x", [], {}, { command: 1, filePath: null }]) {
      expect(await run(name, input)).toEqual({ error: expect.stringMatching(/^Invalid input: /) });
    }
  });

  test("an unknown tool, and one that only the client answers, are errors", async () => {
    for (const name of ["nope", "ask_user_question", "__proto__", "constructor"]) {
      expect(await run(name, {})).toEqual({ error: "There is no such tool" });
    }
  });
});

describe("bash", () => {
  test("cuts a flood at 50,000 characters and says so", async () => {
    const result = await run("bash", { command: "seq 1 50000" });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(String(Object(result).stdout)).toHaveLength(50_000);
  });

  test("has the service's address in its environment", async () => {
    const result = await run("bash", { command: "echo $AGENT_API_URL" });
    expect(result).toMatchObject({ stdout: "http://service\n" });
  });

  test("a credential that a command prints does not come back", async () => {
    const commands = [
      "env",
      'echo "$AGENT_API_AUTH_HEADER" > leak; cat leak',
      "echo $AGENT_API_AUTH_HEADER | cut -d ' ' -f 2",
    ];
    for (const command of commands) {
      expect(JSON.stringify(await run("bash", { command }))).not.toContain(TOKEN);
    }
    expect(JSON.stringify(await run("read", { filePath: "leak" }))).not.toContain(TOKEN);
  });

  test("gives back what PostgreSQL can store", async () => {
    const result = await run("bash", { command: "printf 'a\\000b'" });
    expect(JSON.stringify(result)).not.toContain("\\u0000");
  });

  test("ends with the turn", async () => {
    const controller = new AbortController();
    const running = run("bash", { command: "sleep 60" }, { signal: controller.signal });
    controller.abort();
    expect(await running).toEqual({ error: "Stopped before it finished" });
    expect(await run("bash", { command: "true" }, { signal: controller.signal })).toHaveProperty(
      "error",
    );
  });
});

test("todo gives the list back", async () => {
  const todos = [{ id: "1", content: "a", status: "pending" }];
  expect(await run("todo", { todos })).toEqual({ todos });
});

describe("skill", () => {
  beforeAll(async () => {
    await sandbox.writeFile(
      ".skills/kit/SKILL.md",
      '---\nname: press-kit\ndescription: "Makes a kit: quick"\n---\nMake a kit for $ARGUMENTS ($1).\n',
    );
    await sandbox.writeFile("skills/plain/SKILL.md", "Do it.\n");
    await sandbox.writeFile(".claude/skills/odd/SKILL.md", "---\n: [\n---\nOdd.\n");
  });

  test("lists what there is, also without front matter", async () => {
    const list = Object(await run("skill", { skill: "list" }));
    expect(list.skills).toEqual([
      { name: "odd", description: "", path: ".claude/skills/odd/SKILL.md" },
      { name: "press-kit", description: "Makes a kit: quick", path: ".skills/kit/SKILL.md" },
      { name: "plain", description: "", path: "skills/plain/SKILL.md" },
    ]);
  });

  test("loads one, with its arguments in place or at the end", async () => {
    expect(await run("skill", { skill: "press-kit", args: "Nova Drift" })).toEqual({
      skill: "press-kit",
      path: ".skills/kit/SKILL.md",
      instructions: "Make a kit for Nova Drift (Nova).\n",
    });
    expect(await run("skill", { skill: "plain", args: "x" })).toMatchObject({
      instructions: "Do it.\n\nARGUMENTS: x\n",
    });
  });

  test("an unknown one is an error that names the others", async () => {
    expect(await run("skill", { skill: "nope" })).toEqual({
      error: expect.stringContaining("press-kit"),
    });
  });
});

test("names of MCP servers' tools fit every model, and differ where the tools do", () => {
  const tools = ["get", "get.track", "get track", `${"x".repeat(64)}1`, `${"x".repeat(64)}2`];
  const names = tools.map((tool) => mcpToolName("a-server-with-a-name-as-long-32-", tool));
  for (const name of names) expect(name).toMatch(/^mcp__[A-Za-z0-9_-]{1,59}$/);
  expect(new Set(names).size).toBe(tools.length);
  expect(mcpToolName("charts", "get_track")).toBe("mcp__charts__get_track");
});
