/** The tokens of answers: complete, and while they stream. */
import { describe, expect, it } from "vitest";
import type { MarkdownToken } from "../../app/(console)/_markdown/extensions.ts";
import { parseMarkdown, parseStreaming, sandboxPath } from "../../app/(console)/_markdown/parse.ts";
import { RICH_ANSWER } from "../support/fixtures/rich-answer.ts";

const types = (tokens: readonly MarkdownToken[]) =>
  tokens.map(({ type }) => type).filter((type) => type !== "space");

/** Types and sources of the formulas within the first paragraph. */
const formulas = (text: string) =>
  parseMarkdown(text).flatMap((token) =>
    [token, ...((token as { tokens?: MarkdownToken[] }).tokens ?? [])].flatMap((one) =>
      one.type === "formula" ? [one.text] : [],
    ),
  );

describe("formulas", () => {
  it.each([
    ["$x^2$", ["x^2"]],
    ["$2x + 3$", ["2x + 3"]],
    ["is $a$, $b$.", ["a", "b"]],
    ["\\(a\\) and \\[b\\]", ["a", "b"]],
    ["$$\na\n$$", ["a"]],
    ["\\[\na\n\\]", ["a"]],
    ["$a\\$b$", ["a\\$b"]],
  ])("%j has %j", (text, expected) => {
    expect(formulas(text)).toEqual(expected);
  });

  it.each([
    "costs $5 to $10",
    "costs $5, or 5$",
    "from $5m/$6m on",
    "US$ 5 and US$ 6",
    "`$a$`",
    "\\$a$",
    "```\n$$a$$\n```",
    "$$",
  ])("%j has none", (text) => {
    expect(formulas(text)).toEqual([]);
  });
});

describe("footnotes", () => {
  it("are references in the text and blocks of their own", () => {
    const tokens = parseMarkdown("A[^1] and [^b].\n\n[^1]: One\n  goes on\n[^b]: *Two*\n\nText");
    expect(types(tokens)).toEqual(["paragraph", "footnote", "footnote", "paragraph"]);
    expect(tokens.find(({ type }) => type === "footnote")).toMatchObject({
      label: "1",
      tokens: [{ type: "text", text: "One\ngoes on" }],
    });
  });
});

describe("links to files of the sandbox", () => {
  it.each([
    ["plan.md", "plan.md"],
    ["./out/Release%20plan.md", "out/Release plan.md"],
    ["out/100%.csv", "out/100%.csv"],
    ["/home/agent/out/plan.md", "out/plan.md"],
    ["~/plan.md", "plan.md"],
    ["sandbox:/home/agent/plan.md", "plan.md"],
    ["sandbox:out/plan.md", "out/plan.md"],
    ["file:///home/agent/plan.md", "plan.md"],
  ])("%j leads to %j", (href, path) => {
    expect(sandboxPath(href)).toBe(path);
  });

  it.each([
    "",
    "#top",
    "?q=1",
    "out/",
    "/etc/passwd",
    "//example.com/plan.md",
    "sandbox:/mnt/data/plan.md",
    "sandbox:/home/agent/../plan.md",
    "out/%2e%2e/%2e%2e/plan.md",
    "mailto:a@example.com",
    "javascript:alert(1)",
    "sandbox:javascript:alert(1)",
  ])("%j leads to none", (href) => {
    expect(sandboxPath(href)).toBeNull();
  });
});

describe("a text that streams", () => {
  it("has in the end the tokens of the whole text, wherever it is cut", () => {
    let tokens: readonly MarkdownToken[] = [];
    for (let end = 1; end <= RICH_ANSWER.length; end++) {
      tokens = parseStreaming(RICH_ANSWER.slice(0, end), tokens);
    }
    expect(tokens.map(({ raw }) => raw)).toEqual(parseMarkdown(RICH_ANSWER).map(({ raw }) => raw));
  });

  it("keeps the tokens of what is settled, so that they are not parsed again", () => {
    const text = "# One\n\nTwo\n\nThree\n\nFour\n\n";
    const before = parseStreaming(text, []);
    const after = parseStreaming(`${text}Five`, before);
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
  });

  it("starts again when the text is another one", () => {
    const before = parseStreaming("# One\n\nTwo\n\nThree\n\nFour", []);
    expect(types(parseStreaming("Other", before))).toEqual(["paragraph"]);
  });

  it("shows a table from its first bar on", () => {
    const text = "Text\n\n| Track | Net |\n| :-- | --: |\n| Night Bus | 4 |\n";
    for (let end = text.indexOf("| T") + 3; end < text.length; end++) {
      const tokens = types(parseStreaming(text.slice(0, end), []));
      expect(tokens, JSON.stringify(text.slice(0, end))).toEqual(["paragraph", "table"]);
    }
  });

  it("leaves code alone that looks like a table or a footnote", () => {
    const [code] = parseStreaming("```\n| a", []);
    expect(code).toMatchObject({ type: "code", text: "| a" });
    expect(parseStreaming("```\n[^", [])[0]).toMatchObject({ type: "code", text: "[^" });
  });
});

describe("hostile nesting", () => {
  it.each([
    ["quotes", `${">".repeat(100_000)} x`],
    ["lists", `${"- ".repeat(100_000)}x`],
    ["numbers", `${"1. ".repeat(100_000)}x`],
  ])("of %s is shown as it is written, and the rest as usual", (_, text) => {
    const tokens = parseMarkdown(`# Before\n\n${text}\n\nAfter`);
    expect(types(tokens)).toEqual(["heading", "paragraph", "paragraph"]);
    expect(tokens.map(({ raw }) => raw).join("")).toContain(text);
  });

  it("of many lines ends", () => {
    const text = Array.from({ length: 600 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n");
    expect(parseMarkdown(text).length).toBeGreaterThan(0);
  });

  it("does not concern rules", () => {
    expect(types(parseMarkdown(`a\n\n${"-".repeat(200)}\n\nb`))).toEqual([
      "paragraph",
      "hr",
      "paragraph",
    ]);
  });
});
