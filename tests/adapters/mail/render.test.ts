/** The mails that are made of answers, titles and file names, which are a model's and hostile. */

import { FairQueue } from "@platform/kit/fair-queue";
import type { FolderEntry, SandboxFiles } from "@platform/sandbox/port";
import { beforeAll, describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/delivery/attach-files.ts";
import { matchesPattern } from "../../../lib/delivery/match-pattern.ts";
import { renderResult, renderWaiting } from "../../../lib/delivery/render-mail.ts";
import type { ResultJob, WaitingJob } from "../../../lib/delivery/store.ts";
import { writeHtml } from "../../../packages/documents/src/write-html.ts";
import { expectNoStall } from "../../support/harness/stall.ts";

const job: ResultJob = {
  id: "6f1c6c1e-7a55-4a77-9e57-000000000001",
  leaseId: "6f1c6c1e-7a55-4a77-9e57-000000000002",
  accountId: "6f1c6c1e-7a55-4a77-9e57-000000000003",
  recipient: "ada@example.com",
  runId: "wrun_1",
  attempt: 1,
  fault: null,
  sessionId: null,
  sender: "bob@example.com",
  title: "A chat",
  answer: "",
  kind: "email",
  entry: {},
};
beforeAll(() => {
  Object.assign(process.env, {
    API_KEY_SECRET: "x".repeat(32),
    SUPABASE_URL: "http://localhost",
    SUPABASE_SECRET_KEY: "x",
    DATABASE_URL: "postgresql://localhost",
  });
});

const nothing = { files: [], remarks: [] };
const queue = new FairQueue({
  name: "documents",
  slots: 2,
  waitersPerAccount: 9,
  maxWaitMs: 60_000,
});
const work = { accountId: job.accountId, queue };
const render = (values: Partial<ResultJob>) => renderResult(work, { ...job, ...values }, nothing);

describe("an answer as HTML", () => {
  it("has its structure", () => {
    const html = writeHtml(
      "# Charts\n\n| A | B |\n|---|---|\n| 1 | **2** |\n\n[more](https://example.com/?a=1&b=2)",
    );
    expect(html).toContain("<h1>Charts</h1>");
    expect(html).toContain("<td><strong>2</strong></td>");
    expect(html).toContain('<a href="https://example.com/?a=1&#38;b=2">more</a>');
  });

  it.each([
    ["<script>alert(1)</script>", "<script"],
    ["a <img src=x onerror=alert(1)> b", "<img"],
    ["![pixel](https://evil.example/pixel.png)", "evil.example"],
    ["![p][r]\n\n[r]: https://evil.example/p.png", "<img"],
    ["[a](javascript:alert(1))", "href"],
    ["[a](data:text/html,x)", "href"],
    ["[a](//evil.example)", "href"],
    ["[a](vbscript&#58;x)", "href"],
    ['<https://a.example/"onmouseover=x>', '"onmouseover'],
    ['[a](https://a.example "><script>")', "<script"],
    ['```"><script>\nx\n```', "<script"],
    ["<style>body{display:none}</style>", "<style"],
    ["<!-- --><iframe src=x>", "<iframe"],
    ["- [ ] <b onclick=x>", "<b "],
  ])("%s has no %s", (markdown, forbidden) => {
    expect(writeHtml(markdown)).not.toContain(forbidden);
  });

  it.each([
    ["[https://bank.example](https://evil.example/x)", "https://bank.example (evil.example)"],
    ["[**bank**.example](https://evil.example)", "example (evil.example)"],
    ["[bank&#46;example](https://evil.example)", "example (evil.example)"],
    ["[bank&period;example](https://evil.example)", "example (evil.example)"],
    ["[bank\\.example](https://evil.example)", "example (evil.example)"],
    ["[`bank.example`](https://evil.example)", "</code> (evil.example)"],
    ["[b\u200bank.example](https://evil.example)", "example (evil.example)"],
    ["[bank\uff0eexample](https://evil.example)", "example (evil.example)"],
    ["[b\u0430nk.example](https://xn--bnk-5cd.example)", "example (xn--bnk-5cd.example)"],
    ["[help@bank.example](mailto:x@evil.example)", "example (evil.example)"],
    ["<https://bank.example@evil.example>", "evil.example (evil.example)"],
    [`[bank.example ${"x".repeat(3_000)}](https://evil.example)`, "x (evil.example)"],
  ])("%s names the host that it leads to", (markdown, shown) => {
    expect(writeHtml(markdown)).toContain(`${shown}</a>`);
  });

  it.each([
    "[the report](https://evil.example)",
    "[bank.example](https://www.bank.example/a)",
    "[www.bank.example/a.pdf](https://bank.example/a.pdf)",
    "https://bank.example/a/report.pdf?x=1.example",
    "<help@bank.example>",
    "[http://localhost:3000/a](http://localhost:3000/a)",
  ])("%s has its own text only", (markdown) => {
    expect(writeHtml(markdown)).not.toMatch(/\([\w.-]+\)<\/a>/);
  });

  it.each([
    ["quotes", "> ".repeat(5_000)],
    ["nested quotes over lines", Array.from({ length: 25 }, (_, n) => ">".repeat(n)).join("\n")],
    ["brackets", "[".repeat(50_000)],
    ["links", "[a](".repeat(12_000)],
    ["emphasis", "*a_ ".repeat(12_000)],
    ["nested emphasis", "*a_".repeat(2_000)],
    ["backticks", "`a``".repeat(12_000)],
    ["tags", "<a ".repeat(16_000)],
    ["images", "![".repeat(25_000)],
    ["tables", `|${"a|".repeat(20_000)}\n|${"-|".repeat(20_000)}`],
    ["an address", `${"a".repeat(20_000)}@`],
  ])("%s that a model repeats for ever keep nothing waiting", async (_, answer) => {
    await expectNoStall(() => render({ answer }));
  });

  it("is the text as it is when that cannot be HTML", async () => {
    const { html } = await render({ answer: "> ".repeat(10_000) });
    expect(html).toContain("<pre>&#62; &#62; ");
  });
});

describe("a mail", () => {
  it("has a subject of one line, whatever the title of the chat is", async () => {
    const { subject } = await render({ title: "A\r\nBcc: x@example.com\u202Egnp\u2028" });
    expect(subject).toBe("A Bcc: x@example.com gnp");
    expect((await render({ title: "\n" })).subject).toBe("The result of a run");
  });

  it("has no link from a title or a name", async () => {
    const title = "Click https://evil.example now";
    const waiting = { ...job, kind: "waiting", entry: { kind: "waiting" }, title } as const;
    const { subject, text, html } = renderWaiting(waiting as unknown as WaitingJob);
    for (const part of [subject, text, html]) {
      expect(part).toContain("https[:]//evil[.]example");
      expect(part).not.toContain("//evil.example");
    }
    const sender = "evil.example";
    expect((await render({ answer: "x", sender })).text).toContain("Sent for evil[.]example.");
    expect((await render({ answer: "x" })).text).toContain("Sent for bob@example.com.");
  });

  it("as a summary has the first paragraph, of at most 1,000 characters", async () => {
    const answer = `# Title\n\nThe first.\n\nThe second.`;
    const { text } = await render({ answer, entry: { format: "summary" } });
    expect(text).toContain("The first.");
    expect(text).not.toContain("The second.");
    const long = await render({ answer: "x".repeat(5_000), entry: { format: "summary" } });
    expect(/x+…/.exec(long.text)?.[0]).toHaveLength(1_000);
  });

  it("can be unsubscribed from by one click (RFC 8058)", async () => {
    const { headers, text } = await render({ answer: "x" });
    expect(headers?.["List-Unsubscribe-Post"]).toBe("List-Unsubscribe=One-Click");
    const link = headers?.["List-Unsubscribe"]?.slice(1, -1) ?? "";
    expect(link).toMatch(/\/delivery\/unsubscribe\?token=[\w-]+$/);
    expect(text).toContain(link);
  });
});

/** A sandbox with these files. */
function sandboxOf(contents: Readonly<Record<string, Uint8Array | "broken">>) {
  const entries = Object.entries(contents).map(
    ([path, content]): FolderEntry => ({
      path,
      type: "file",
      size: content === "broken" ? 1 : content.byteLength,
      modifiedAt: "2026-11-25T00:00:00.000Z",
    }),
  );
  const below = (folder: string) =>
    entries.flatMap((entry) => {
      if (folder === ".") return [entry];
      const path = entry.path.startsWith(`${folder}/`) && entry.path.slice(folder.length + 1);
      return path ? [{ ...entry, path }] : [];
    });
  const files = {
    listFolder: async (folder: string) => ({
      path: folder,
      entries: below(folder).filter(({ path }) => !path.includes("/")),
      truncated: false,
    }),
    listTree: async (folder: string) => below(folder),
    readFile: async (path: string) => {
      const content = contents[path];
      if (content === undefined || content === "broken") throw new Error("broken");
      return content;
    },
  };
  return files as unknown as SandboxFiles;
}

const attach = async (
  contents: Parameters<typeof sandboxOf>[0],
  ...patterns: readonly string[]
) => {
  const found = { files: [], remarks: [] };
  await readFiles(sandboxOf(contents), patterns, found);
  return found as { files: { filename: string; content: Uint8Array }[]; remarks: string[] };
};

describe("attachments", () => {
  const small = new Uint8Array(3);

  it("are those that match, once each, under names without folders", async () => {
    const contents = { "a/r.xlsx": small, "b/r.xlsx": small, "b/c/x.pdf": small, "y.txt": small };
    const { files, remarks } = await attach(
      contents,
      "*/r.xlsx",
      "**/*.xlsx",
      "b/**/x.pdf",
      "no.txt",
    );
    expect(files.map(({ filename }) => filename)).toEqual(["r.xlsx", "2-r.xlsx", "x.pdf"]);
    expect(remarks).toEqual(["No file matches “no.txt”."]);
  });

  it("have 10 MiB in total; what does not fit or cannot be read is named", async () => {
    const large = new Uint8Array(6 * 1024 * 1024);
    const { files, remarks } = await attach(
      { "1.bin": large, "2.bin": large, "3.bin": "broken" },
      "*.bin",
    );
    expect(files.map(({ filename }) => filename)).toEqual(["1.bin"]);
    expect(remarks).toEqual([
      "“2.bin” is too large to attach: open the run to get it.",
      "“3.bin” could not be read.",
    ]);
  });

  it("have names that cannot change a header or hide what they are", async () => {
    const name = 'a"\r\nBcc: x\u202Efdp.exe;';
    const { files, remarks } = await attach({ [name]: small, [`${name}b`]: "broken" }, "a*");
    expect(files.map(({ filename }) => filename)).toEqual(["a_ Bcc_ x fdp.exe_"]);
    expect(remarks.join()).not.toMatch(/[\r\n\u202E]/);
  });
});

describe("a pattern", () => {
  it.each([
    ["*.md", "a.md", true],
    ["*.md", "a/b.md", false],
    ["**/*.md", "b.md", true],
    ["**/*.md", "a/b/c.md", true],
    ["a/**", "a/b/c", true],
    ["a/*/c", "a/b/c", true],
    ["a/*/c", "a/b/d/c", false],
    ["r*t-*.x", "report-7.x", true],
    ["r*t-*.x", "report.x", false],
    ["a.b", "aXb", false],
  ])("%s on %s: %s", (pattern, path, matches) => {
    expect(matchesPattern(pattern, path)).toBe(matches);
  });

  it("of a caller cannot keep the process busy", async () => {
    await expectNoStall(() => {
      expect(matchesPattern(`${"*a".repeat(100)}`, "a".repeat(4_000))).toBe(true);
      expect(matchesPattern(`${"**/".repeat(60)}x`, "a/".repeat(2_000))).toBe(false);
    });
  });
});
