/** Prompts and conversations that would keep the server's one thread busy, and answers that would keep a page's. */
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { dropOldest, planCompaction, promptOf } from "@platform/agent/context";
import { unitsOf } from "@platform/agent/conversation";
import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { decideReply } from "@/packages/agent/src/models/adapters/embedded/decide-reply.ts";
import { parseMarkdown } from "../../app/(console)/_markdown/parse.ts";
import { expectNoStall } from "../support/harness/stall.ts";

/** The longest text that the embedded model reads. */
const LONGEST_PLAN = 50_000;
/** The longest line that it takes for a request. */
const LONGEST_LINE = 2_000;

const tools = new Set(
  "bash read write grep glob todo task ask_user_question skill fetch".split(" "),
);

const fill = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const lines = (text: string): string => fill(`${fill(text, LONGEST_LINE - 1)}\n`, LONGEST_PLAN);

describe("the embedded model", () => {
  test.each([
    ["opening quotes", fill("“", LONGEST_PLAN)],
    ["backticks", fill("`", LONGEST_PLAN)],
    ["fences", fill("```\n", LONGEST_PLAN)],
    ["line feeds", fill("\n", LONGEST_PLAN)],
    ["lines of commas", lines(",")],
    ["lines of commas and spaces", lines(", ")],
    ["lines of points and spaces", lines(". ")],
    ["lines of spaces", lines(" ").replaceAll(/^ | $/gm, "x")],
    ["lines of joints", `x${lines(" and")}`],
    ["lines of marks", lines("a! ")],
    ["a plan of spaces", `plan: \`a${fill(" ", LONGEST_PLAN - 20)}b\``],
    ["options of spaces", `ask me "x" with options: \`a${fill(" ", LONGEST_PLAN - 50)}b\``],
    ["a question of options", `ask me \`${fill(" with options: x", LONGEST_PLAN - 20)}\u2028\`z`],
    ["a text of targets", `write \`${fill(" to “", LONGEST_PLAN - 20)}\`z y`],
    ["a search of folders", `search for \`${fill(" in “", LONGEST_PLAN - 20)}\`z y`],
    ["a command of folders", `run \`${fill(" in folder “", LONGEST_PLAN - 20)}\`z y`],
    ["a text repeated", `repeat \`${fill("a", LONGEST_PLAN - 40)}\` 999999999 times`],
  ])("reads %s at once", async (_, text) => {
    const prompt: LanguageModelV4Prompt = [{ role: "user", content: [{ type: "text", text }] }];
    let written = 0;
    await expectNoStall(() => {
      written = 0;
      for (const delta of decideReply(prompt, tools).text) written += delta.length;
    });
    expect(written).toBeLessThan(300_000);
  });
});

describe("limiting the context", () => {
  const results = (count: number): UIMessage[] => [
    {
      id: "a",
      role: "assistant",
      parts: Array.from({ length: count }, (_, place) => ({
        type: "tool-bash" as const,
        toolCallId: `call-${place}`,
        state: "output-available" as const,
        input: {},
        output: { stdout: fill("x", 250) },
      })),
    },
    { id: "u", role: "user", parts: [{ type: "text", text: "and now?" }] },
  ];

  const unitsWith = (count: number) =>
    unitsOf({ history: results(count), assistant_message_id: "new", steering: [] }, [], [], {});

  test("of a message of ten thousand results stalls nothing", async () => {
    const units = await unitsWith(10_000);
    await expectNoStall(() => dropOldest(units, {}, 1));
    const size = { tokens: 1_000_000, estimated: 1_000_000, budget: 600_000 };
    await expectNoStall(() => promptOf(units, planCompaction(units, {}, size)?.state ?? {}));
  });
});

describe("the Markdown of an answer", () => {
  test.each([
    ["nested emphasis", fill("*a_", LONGEST_PLAN)],
    ["emphasis in short paragraphs", fill(`${"**a__".repeat(200)}\n\n`, LONGEST_PLAN)],
    ["an address", `${fill("a", LONGEST_PLAN)}@`],
  ])("of %s is parsed at once, and the rest as usual", async (_, text) => {
    const answer = `*Before*\n\n${text}\n\n# After`;
    await expectNoStall(() => parseMarkdown(answer));
    const tokens = parseMarkdown(answer);
    expect(tokens.map(({ raw }) => raw).join("")).toBe(answer);
    expect(tokens[0]).toMatchObject({ tokens: [{ type: "em", text: "Before" }] });
    expect(tokens.at(-1)).toMatchObject({ type: "heading" });
  });
});
