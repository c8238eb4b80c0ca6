/**
 * Files of a sandbox and calls of a model that would keep the server's one thread busy. The tools
 * run in this process as they do in the server, against a real sandbox.
 */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "@platform/agent/tools";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox, SandboxProvider, SandboxState } from "@platform/sandbox/port";
import { listedDescription, MAX_HEAD_BYTES, readSkillHead } from "@platform/skills/skill-file";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  documentQueue,
  noSearch,
  noServiceTools,
  noSkills,
  seenImages,
} from "../support/fixtures/agent-tools.ts";
import { expectNoStall } from "../support/harness/stall.ts";

const MIB = 1024 * 1024;
const LARGEST_FILE = 10 * MIB;
const account = randomUUID();

let root: string;
let provider: SandboxProvider;
let state: SandboxState;
let sandbox: Sandbox;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "hostile-tools-"));
  provider = createLocalProvider({ rootDir: root, diskQuota: 64 * MIB, allowedHosts: [] });
  state = await provider.provision(randomUUID(), account);
  sandbox = provider.open(state, account);
});
afterAll(async () => {
  await provider.destroy(state);
  await rm(root, { recursive: true, force: true });
});

const run = (name: string, input: unknown) =>
  runTool(name, input, {
    sandbox,
    env: {},
    signal: new AbortController().signal,
    runSubagent: () => Promise.reject(new Error("No test runs a subagent here")),
    skills: noSkills,
    searchWeb: noSearch,
    ...noServiceTools,
    images: seenImages,
    serviceOrigin: "http://service",
    judgedRequest: async (_method, url) => ({ url, headers: {} }),
    asksForHosts: false,
    addSources: () => {},
    network: [],
    documents: { accountId: account, queue: documentQueue() },
    reportFault: (tool, error) => {
      throw new Error(`${tool} failed`, { cause: error });
    },
  });

/** The first measurement may include the start of a sandbox and a compiler; the next attempt does not. */
async function measure(name: string, input: unknown) {
  let output: unknown;
  await expectNoStall(async () => {
    output = await run(name, input);
  });
  return output;
}

const fill = (text: string, length = LARGEST_FILE): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

const fenced = (head: string) => `---\nname: hostile\n${head}\n---\nDo it with $ARGUMENTS.\n`;

test.each([
  ["a flow sequence that opens for ever", fenced(`x: ${fill("[", 9 * MIB)}`)],
  ["nested maps", fenced(`x: ${fill("{a: ", 9 * MIB)}`)],
  ["a description of nested maps", fenced(`description: ${fill("a: ", 9 * MIB)}`)],
  ["a million fields", fenced(fill("k: v\n", 9 * MIB))],
  ["a million anchors", fenced(`x: ${fill("&a ", 9 * MIB)}`)],
  ["front matter without an end", `---\n${fill("- - - -\n")}`.slice(0, LARGEST_FILE)],
  ["fences that nearly close", `---\n${fill("\n---  x")}`.slice(0, LARGEST_FILE)],
  ["white space after a fence", `---\nname: a\n---${fill(" ", 9 * MIB)}x`],
  ["empty lines", fill("\n")],
])("a skill with %s is listed and loaded", async (_, content) => {
  await sandbox.writeFile("skills/hostile/SKILL.md", content);
  const list = Object(await measure("skill", { skill: "list" }));
  const [{ name }] = list.skills;
  const loaded = Object(await measure("skill", { skill: name, args: "care" }));
  expect(loaded.instructions.length).toBeLessThanOrEqual(50_000);
});

test("a skill that names its arguments a million times gets no longer than what is shown", async () => {
  await sandbox.writeFile(
    "skills/hostile/SKILL.md",
    `---\nname: hostile\n---\n${fill("$1", 9 * MIB)}`,
  );
  const loaded = Object(await measure("skill", { skill: "hostile", args: fill("a", 10_000) }));
  expect(loaded.truncated).toBe(true);
  expect(loaded.instructions).toMatch(
    /^\[This is a part\. Read on with read: \S+, offset 4\]\n\na+$/,
  );
  expect(loaded.instructions.length).toBeGreaterThan(40_000);
});

test("arguments without an end are refused", async () => {
  expect(await run("skill", { skill: "hostile", args: fill("a", MIB) })).toEqual({
    error: expect.stringMatching(/^Invalid input: args/),
  });
});

test("hundreds of skills are listed, each by its first lines", async () => {
  const make = `i=0; while [ $i -lt 300 ]; do mkdir -p ".skills/s$i"; cp skills/hostile/SKILL.md ".skills/s$i/SKILL.md"; i=$((i+1)); done`;
  await sandbox.writeFile("skills/hostile/SKILL.md", fenced(`description: ${fill("a: ", 1_000)}`));
  await run("bash", { command: make });
  const list = Object(await measure("skill", { skill: "list" }));
  expect(list.skills.length).toBeGreaterThan(0);
  await run("bash", { command: "rm -r .skills" });
});

test("of a head no more is parsed than its bound", () => {
  const late = `---\n${"# \n".repeat(MAX_HEAD_BYTES)}name: late\n---\n`;
  expect(readSkillHead(late)).toEqual({});
  expect(
    readSkillHead("---\nlist: [1, 2]\nname: early\ndescription: >\n  Two\n  lines\n---\n"),
  ).toEqual({ name: "early", description: "Two lines\n" });
  expect(readSkillHead("---\nname:\n  next\ndescription: {a: b}\n---\n")).toEqual({ name: "next" });
});

test.each([
  [
    "plain",
    "Use when: a label asks, or 5 % are missing",
    "Use when: a label asks, or 5 % are missing",
  ],
  ["double quotes", '"Reads \\"statements\\": all"', 'Reads "statements": all'],
  ["single quotes", "'It''s one'", "It's one"],
  ["folded", ">-\n  Two\n  lines", "Two lines"],
  ["literal", "|\n  Two\n  lines", "Two lines"],
  ["several plain lines", "One\n  goes on", "One goes on"],
  ["more than fits", `"${"word ".repeat(600)}"`, `${"word ".repeat(50).trim()}`],
])("a description in %s is listed by its first 250 characters", (_, yaml, listed) => {
  const { description = "" } = readSkillHead(
    `---\nname: a\ndescription: ${yaml}\nlicense: MIT\n---\n`,
  );
  expect(listedDescription(description).trim()).toBe(listed);
});

test.each([
  ["line feeds", "\n"],
  ["carriage returns", "\r"],
  ["one line", "a"],
  ["two bytes each", "\u00e9\n"],
])("a file of nothing but %s is read", async (_, text) => {
  await sandbox.writeFile("flood.txt", fill(text, 5 * MIB));
  await measure("read", { filePath: "flood.txt" });
  await measure("read", { filePath: "flood.txt", offset: 1_000_000_000 });
  const lines = Object(await measure("read", { filePath: "flood.txt", limit: 1_000_000_000 }));
  expect(lines).toMatchObject({ startLine: 1, truncated: true });
  expect(lines.content).toHaveLength(50_000);
});

test("a matching line of numbers between colons is cut", async () => {
  await sandbox.writeFile("long.txt", `${fill("hit:1:", 900_000)}\r\n`);
  const { matches } = Object(await measure("grep", { pattern: "hit", path: "long.txt" }));
  expect(matches).toEqual([{ file: "long.txt", line: 1, text: fill("hit:1:", 500) }]);
});

test("a line that ends in a carriage return is found, without it", async () => {
  await sandbox.writeFile("dos.txt", "one\r\ntwo\r\n");
  expect(await run("grep", { pattern: "two", path: "dos.txt" })).toMatchObject({
    matches: [{ file: "dos.txt", line: 2, text: "two" }],
  });
});

test.each([
  ["glob", { pattern: fill("[", MIB) }, "pattern"],
  ["glob", { pattern: "*", path: `${fill("/", MIB)}x` }, "path"],
  ["grep", { pattern: fill("(", MIB) }, "pattern"],
  ["grep", { pattern: "x", glob: `${fill("a", MIB)}{${fill(",", MIB)}}` }, "glob"],
  ["grep", { pattern: "x", path: fill("/", MIB) }, "path"],
  ["read", { filePath: fill("../", MIB) }, "filePath"],
  ["write", { filePath: fill("a/", MIB), content: "" }, "filePath"],
  ["fetch", { url: `https://${fill("a.", MIB)}` }, "url"],
])("%s refuses a name of a megabyte", async (name, input, field) => {
  const output = Object(await measure(name, input));
  expect(output.error).toMatch(new RegExp(`^Invalid input: ${field}`));
});

test("a file of line feeds is written, and its lines are counted", async () => {
  const output = await measure("write", { filePath: "lines.txt", content: fill("\n") });
  expect(output).toEqual({ filePath: "lines.txt", bytes: LARGEST_FILE, lines: LARGEST_FILE });
});
