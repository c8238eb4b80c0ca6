/** This file is long because the tools for files share one sandbox. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToolFixture } from "../../support/fixtures/agent-tools.ts";

const { sandbox, faults, run, remove } = await createToolFixture();
afterAll(remove);

describe("read and write", () => {
  test("written text is read, as a whole and by lines", async () => {
    const content = "one\ntwo\nthree\n";
    expect(await run("write", { filePath: "dir/a.txt", content })).toEqual({
      filePath: "dir/a.txt",
      bytes: 14,
      lines: 3,
    });
    const whole = {
      filePath: "dir/a.txt",
      content,
      startLine: 1,
      endLine: 3,
      totalLines: 3,
      truncated: false,
    };
    expect(await run("read", { filePath: "dir/a.txt" })).toEqual(whole);
    expect(await run("read", { filePath: "dir/a.txt", offset: 2, limit: 1 })).toEqual({
      ...whole,
      content: "two\n",
      startLine: 2,
      endLine: 2,
      truncated: true,
      nextOffset: 3,
    });
  });

  test("an empty file has no lines", async () => {
    await run("write", { filePath: "empty", content: "" });
    expect(await run("read", { filePath: "empty" })).toMatchObject({
      content: "",
      totalLines: 0,
      endLine: 0,
    });
  });

  test("a long file ends with a whole line, and says where to read on", async () => {
    await run("write", { filePath: "long", content: "ab\n".repeat(30_000) });
    const result = Object(await run("read", { filePath: "long" }));
    expect(result.content).toBe("ab\n".repeat(16_666));
    expect(result).toMatchObject({ truncated: true, totalLines: 30_000, endLine: 16_666 });
    const offset = result.nextOffset;
    expect(await run("read", { filePath: "long", offset })).toMatchObject({
      startLine: 16_667,
      endLine: 30_000,
      truncated: false,
    });
    await run("write", { filePath: "line", content: "x".repeat(60_000) });
    const line = Object(await run("read", { filePath: "line" }));
    expect(line).toMatchObject({
      truncated: true,
      endLine: 1,
      note: expect.stringContaining("cut -c"),
    });
    expect(line.content).toHaveLength(50_000);
  });

  test("a binary file is refused", async () => {
    await sandbox.writeFile("bin", new Uint8Array([1, 0, 255]));
    await sandbox.writeFile("controls", new Uint8Array([0xe9, 0x01]));
    for (const filePath of ["bin", "controls"]) {
      expect(await run("read", { filePath })).toEqual({ error: expect.stringContaining("binary") });
    }
  });

  test("a missing file and a path outside are answers", async () => {
    expect(await run("read", { filePath: "nope" })).toEqual({
      error: "No such file in the sandbox",
    });
    for (const filePath of ["../../../etc/passwd", "/etc/passwd", "dir", "dir/../.."]) {
      expect(await run("read", { filePath })).toHaveProperty("error");
    }
    expect(await run("write", { filePath: "/etc/x", content: "" })).toHaveProperty("error");
    expect(faults).toEqual([]);
  });
});

describe("edit", () => {
  const text = async (path: string) => Buffer.from(await sandbox.readFile(path)).toString();
  const edit = async (content: string | Uint8Array, input: object, filePath = "edit.txt") => {
    await sandbox.writeFile(filePath, content);
    return run("edit", { filePath, ...input });
  };

  test.each<[string, string, object, string, object]>([
    ["one place", "a\nb\nc\n", { oldString: "b\n", newString: "B" }, "a\nBc\n", { startLine: 2 }],
    [
      "every place, from left to right",
      "aaa\naa",
      { oldString: "aa", newString: "b", replaceAll: true },
      "ba\nb",
      { replacements: 2, startLine: 1, bytes: 4 },
    ],
    [
      "lines of Windows",
      "a\r\nb\r\nc\r\n",
      { oldString: "a\nb", newString: "x\ny\nz" },
      "x\r\ny\r\nz\r\nc\r\n",
      {},
    ],
    ["lines of Unix", "a\nb\n", { oldString: "a\r\nb", newString: "x\r\ny" }, "x\ny\n", {}],
    ["mixed lines", "a\r\nb\nc", { oldString: "b\nc", newString: "x\ny" }, "a\r\nx\ny", {}],
    [
      "with a byte order mark",
      "\ufeffa $& b",
      { oldString: "a", newString: "$&" },
      "\ufeff$& $& b",
      {},
    ],
  ])("replaces %s", async (_, before, input, after, result) => {
    expect(await edit(before, input)).toMatchObject({ filePath: "edit.txt", ...result });
    expect(await text("edit.txt")).toBe(after);
  });

  const change = { oldString: "a", newString: "b" };
  test.each<[string, string | Uint8Array, object, string]>([
    [
      "many places",
      "a\n".repeat(12),
      change,
      "12 times, at the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …",
    ],
    [
      "overlapping places",
      "xyxyx",
      { oldString: "xyx", newString: "" },
      "2 times, at the lines 1, 1:",
    ],
    [
      "a similar line",
      "Intro\nNet receipt: 12",
      { oldString: "Net receipts: 12", newString: "" },
      "nearest line is 2: Net receipt: 12",
    ],
    [
      "other blanks",
      "if (a)\n\tb()",
      { oldString: "if (a)\n  b()", newString: "" },
      "differs only in its whitespace. The nearest line is 1: if (a)",
    ],
    [
      "other line endings",
      "a\r\nb\nc",
      { oldString: "a\nb", newString: "" },
      "differs only in its line endings",
    ],
    [
      "another normalization",
      "Ły cafe\u0301",
      { oldString: "caf\u00e9", newString: "" },
      "differs only in its Unicode normalization",
    ],
    ["nothing alike", "one", { oldString: "xyz", newString: "" }, "oldString is not in edit.txt"],
    ["the same text", "a", { oldString: "a", newString: "a" }, "are the same"],
    ["an empty text", "a", { oldString: "", newString: "b" }, "Invalid input: oldString"],
    ["a binary file", new Uint8Array([97, 0]), change, "is no text in UTF-8"],
    ["a document", "{\\rtf1 a}", change, "is a document (RTF)"],
    [
      "a result without bounds",
      "a".repeat(20_000),
      { ...change, newString: "b".repeat(1_000), replaceAll: true },
      "would be too large",
    ],
    [
      "too many places",
      "a".repeat(100_001),
      { ...change, replaceAll: true },
      "more than 100000 times",
    ],
    // A naive search compares a million characters at each place.
    [
      "a hostile pattern",
      "a".repeat(9_000_000),
      { oldString: `b${"a".repeat(1_000_000)}`, newString: "" },
      "oldString is not in",
    ],
  ])("refuses %s, and leaves the file", async (_, content, input, error) => {
    expect(await edit(content, input)).toEqual({ error: expect.stringContaining(error) });
    expect(await sandbox.readFile("edit.txt")).toEqual(new Uint8Array(Buffer.from(content)));
  });

  test("loses no change of the same step", async () => {
    await sandbox.writeFile("step.txt", "one two three");
    const changes = ["one", "two", "three"].map((oldString, place) =>
      run("edit", {
        filePath: place === 1 ? "/home/agent/./step.txt" : "step.txt",
        oldString,
        newString: oldString.toUpperCase(),
      }),
    );
    await Promise.all(changes);
    expect(await text("step.txt")).toBe("ONE TWO THREE");
  });
});

describe("grep and glob", () => {
  beforeAll(async () => {
    const files = {
      "tree/a.md": "# Title\nhello World 42\n",
      "tree/b.ts": "const hello = 1;\n",
      "tree/c.tsx": "hello\n",
      "tree/sub/deep/d.md": "say hello: 7:8\n",
      "tree/node_modules/e.md": "hello\n",
      "tree/it's a file.md": "hello\n",
      "tree/-dash.md": "hello\n",
    };
    for (const [path, content] of Object.entries(files)) await sandbox.writeFile(path, content);
  });
  const filesOf = (result: unknown): string[] =>
    Object(result)
      .matches.map((match: { file: string }) => match.file)
      .sort();

  test("finds lines by regular expression, below a folder", async () => {
    expect(await run("grep", { pattern: "\\w+ \\d{2}$", path: "tree" })).toEqual({
      matches: [{ file: "tree/a.md", line: 2, text: "hello World 42" }],
      truncated: false,
    });
    expect(filesOf(await run("grep", { pattern: "hello", path: "tree" }))).toEqual([
      "tree/-dash.md",
      "tree/a.md",
      "tree/b.ts",
      "tree/c.tsx",
      "tree/it's a file.md",
      "tree/sub/deep/d.md",
    ]);
  });

  test("filters by file name, and by case", async () => {
    expect(
      filesOf(await run("grep", { pattern: "hello", path: "tree", glob: "*.{ts,tsx}" })),
    ).toEqual(["tree/b.ts", "tree/c.tsx"]);
    expect(filesOf(await run("grep", { pattern: "hello", path: "tree", glob: "**/*.ts" }))).toEqual(
      ["tree/b.ts"],
    );
    expect(await run("grep", { pattern: "WORLD", path: "tree" })).toMatchObject({ matches: [] });
    expect(
      filesOf(await run("grep", { pattern: "WORLD", path: "tree", caseSensitive: false })),
    ).toEqual(["tree/a.md"]);
  });

  test("searches a single file, whatever its name", async () => {
    for (const path of ["tree/it's a file.md", "./tree/-dash.md"]) {
      expect(filesOf(await run("grep", { pattern: "hello", path }))).toHaveLength(1);
    }
    expect(await run("grep", { pattern: "say", path: "tree/sub" })).toMatchObject({
      matches: [{ line: 1, text: "say hello: 7:8" }],
    });
  });

  test("nothing in pattern, path or glob is run as a command", async () => {
    for (const evil of [
      "'; touch pwned; '",
      "$(touch pwned)",
      "`touch pwned`",
      "a\ntouch pwned",
      "--file=/etc/passwd",
      "-rf",
    ]) {
      await run("grep", { pattern: evil, path: evil, glob: evil });
      await run("glob", { pattern: evil, path: evil });
      await run("grep", { pattern: evil, path: "tree" });
      await run("glob", { pattern: evil, path: "tree" });
      await run("skill", { skill: evil, args: evil });
    }
    expect(await run("glob", { pattern: "**/pwned*" })).toEqual({ files: [], truncated: false });
  });

  test("a wrong pattern and a missing path are answers", async () => {
    expect(await run("grep", { pattern: "(", path: "tree" })).toHaveProperty("error");
    expect(await run("grep", { pattern: "x", path: "nope" })).toEqual({
      error: "nope does not exist",
    });
    expect(await run("glob", { pattern: "*", path: "nope" })).toEqual({
      error: "nope is not a folder",
    });
    expect(await run("grep", { pattern: "x", glob: "src/*.ts" })).toHaveProperty("error");
  });

  test.each<[string, string[]]>([
    ["*.md", ["-dash.md", "a.md", "it's a file.md"]],
    ["**/*.md", ["-dash.md", "a.md", "it's a file.md", "sub/deep/d.md"]],
    ["sub/**", ["sub/deep/d.md"]],
    ["*.{ts,tsx}", ["b.ts", "c.tsx"]],
    ["[ab].*", ["a.md", "b.ts"]],
    ["[!a].md", []],
    ["?.ts", ["b.ts"]],
    ["a.md", ["a.md"]],
    ["a*md", ["a.md"]],
    ["a+md", []],
    ["{a,b", []],
  ])("glob %s", async (pattern, expected) => {
    const files = expected.map((file) => `tree/${file}`);
    expect(await run("glob", { pattern, path: "tree" })).toEqual({ files, truncated: false });
  });

  test("glob stops at its limit, and says so", async () => {
    expect(await run("glob", { pattern: "**/*.md", path: "tree", limit: 2 })).toEqual({
      files: ["tree/-dash.md", "tree/a.md"],
      truncated: true,
    });
  });
});
