/** Mail with parts that mail programs write, and text in the encodings of other systems. */
import { readFile } from "node:fs/promises";
import { burn } from "@kenjiuno/msgreader/lib/Burner.js";
import { decodeText } from "@platform/documents/decode-text";
import { afterAll, describe, expect, it, test } from "vitest";
import { parseDocument } from "../../../packages/documents/src/parse-document.ts";
import { createToolFixture } from "../../support/fixtures/agent-tools.ts";

const { sandbox, run, remove } = await createToolFixture();
afterAll(remove);

const fixture = (name: string) => readFile(`tests/support/fixtures/documents/${name}`);

async function bodyOf(format: "EML" | "MSG", bytes: Uint8Array) {
  const { about, sections } = await parseDocument(format, bytes);
  const [, ...body] = (sections[0]?.text ?? "").split("\n\n");
  return { about, body: body.join("\n\n") };
}

const htmlMail = (html: string, type = "text/html; charset=utf-8") =>
  Buffer.from(`From: mara@example.com\r\nContent-Type: ${type}\r\n\r\n${html}`);

describe("a mail", () => {
  it.each(["empty-plain.eml", "html-only.eml"])("%s shows its HTML as text", async (name) => {
    const body = "Net receipts: €1,250.00 – 18 % is 225 EUR\n\nLine A\nLine B\nGermany | 100";
    expect(await bodyOf("EML", await fixture(name))).toEqual({ about: "EML.", body });
  });

  it.each([
    [
      "paragraphs in cells",
      "<table><tr><td><p>Germany</p></td><td><p>1</p></td></tr></table>",
      "Germany | 1",
    ],
    ["an empty cell", "<table><tr><td>a<td><td>c<tr><td><td>5</table>", "a |  | c\n | 5"],
    [
      "a table for the layout",
      "<table><tr><td><table><tr><td>A</td></tr><tr><td>B</td></tr></table></td></tr></table>",
      "A\nB",
    ],
    ["lists", "<ul><li>One<li>Two<ol start=3><li>a<li>b</ol></ul>", "- One\n- Two\n  3. a\n  4. b"],
    ["paragraphs in lists", "<ul><li><p>One</p><li><p>Two</p></ul>", "- One\n\n- Two"],
    [
      "a link",
      'Sign <a href="https://x.example/c?1&amp;2">here</a> now',
      "Sign here <https://x.example/c?1&2> now",
    ],
    [
      "a link that is its text",
      '<a href="https://x.example/">https://x.example</a>',
      "https://x.example",
    ],
    ["spaces", "<b>Gr&ouml;</b>&szlig;e&nbsp;\n <i>9</i>", "Größe 9"],
    ["preformatted text", "<pre>a  b\r\n c</pre>", "a  b\n c"],
    ["text that looks like HTML", "&lt;b&gt; &amp;amp;", "<b> &amp;"],
    ["code that is not closed", "seen<script>var x = 1;", "seen"],
  ])("with %s", async (_, html, body) => {
    expect((await bodyOf("EML", htmlMail(html))).body).toBe(body);
  });

  it("counts hidden passages and images, and names the texts of images", async () => {
    const html = `<div style="display:none">Preheader <b>here</b></div><p hidden>No</p><img src="cid:1">Seen <img alt="Logo">`;
    const about = "EML. Omitted: 2 hidden passages, 1 image.";
    expect(await bodyOf("EML", htmlMail(html))).toEqual({ about, body: "Seen [image: Logo]" });
  });

  it("shows a long text part rather than the HTML, and the HTML rather than a hint", async () => {
    const parts = (text: string, html: string) =>
      htmlMail(
        `--b\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--`,
        "multipart/alternative; boundary=b",
      );
    const html = `<p>${"The whole statement of the third quarter. ".repeat(10)}</p>`;
    expect((await bodyOf("EML", parts("Our terms, in full.", "<p>Our terms</p>"))).body).toBe(
      "Our terms, in full.",
    );
    expect((await bodyOf("EML", parts("Please view as HTML.", html))).body).toContain("statement");
  });

  it("without a header or a text is none", async () => {
    const bytes = Buffer.from([0xff, 0x80, 0x9a, 0x00]);
    await expect(parseDocument("EML", bytes)).rejects.toThrow("is damaged or no message");
  });

  it("with a million open elements is refused at once", async () => {
    const html = `${"<a href=https://x.example><div><td>".repeat(300_000)}end`;
    const nested = parseDocument("EML", htmlMail(html));
    await expect(nested).rejects.toThrow("has HTML that is nested too deeply");
    const flat = `${"<p>line<br>".repeat(100_000)}end`;
    expect((await bodyOf("EML", htmlMail(flat))).body).toMatch(/end$/);
  });
});

describe("a message of Outlook", () => {
  const wide = (text: string) => Buffer.from(text, "utf16le");
  /** @param streams by their property and type, as in MS-OXMSG 2.1 */
  const message = (streams: Readonly<Record<string, Buffer>>) => {
    const all = Object.entries({
      "__properties_version1.0": Buffer.alloc(32),
      __substg1_0_0037001F: wide("Statement Q3"),
      __substg1_0_0C1A001F: wide("Mara Vale"),
      ...streams,
    }).map(([name, bytes]) => ({ name: name.replace("substg1_0", "substg1.0"), bytes }));
    return burn([
      { name: "Root Entry", type: 5, length: 0, children: all.map((_, place) => place + 1) },
      ...all.map(({ name, bytes }) => ({
        ...{ name, type: 2, length: bytes.length },
        binaryProvider: () => Uint8Array.from(bytes),
      })),
    ]);
  };
  const rtf = (text: string) => {
    const raw = Buffer.from(text, "latin1");
    const head = Buffer.alloc(16);
    head.writeUInt32LE(raw.length + 12, 0);
    head.writeUInt32LE(raw.length, 4);
    head.write("MELA", 8, "latin1");
    return Buffer.concat([head, raw]);
  };

  it.each([
    ["text", { __substg1_0_1000001F: wide("50 % each.\r\nMara") }, "50 % each.\nMara"],
    [
      "HTML in Windows-1252",
      {
        __substg1_0_10130102: Buffer.from(
          "<meta charset=windows-1252><p>12 \x80 f\xfcr Mara</p>",
          "latin1",
        ),
      },
      "12 € für Mara",
    ],
    [
      "HTML in UTF-8 that declares nothing",
      { __substg1_0_10130102: Buffer.from("<p>für Mara</p>") },
      "für Mara",
    ],
    [
      "RTF",
      { __substg1_0_10090102: rtf("{\\rtf1\\ansi\\ansicpg1252 18 % f\\'fcr Mara\\par Ende}") },
      "18 % für Mara\nEnde",
    ],
    [
      "RTF that was HTML",
      {
        __substg1_0_10090102: rtf(
          "{\\rtf1\\ansi\\fromhtml1 {\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Net{\\*\\htmltag84 &nbsp;}\\htmlrtf \\~\\htmlrtf0 100{\\*\\htmltag72 </p>}\\htmlrtf\\par}\\htmlrtf0}",
        ),
      },
      "Net\u00a0100",
    ],
    ["RTF that is damaged", { __substg1_0_10090102: Buffer.from("x") }, "(The body is damaged)"],
  ])("has a body of %s", async (_, streams, body) => {
    expect((await bodyOf("MSG", message(streams))).body).toBe(body);
  });
});

describe("a text", () => {
  it.each([["tracks-cp1252.csv", "Titel;Erlös\r\nHafen;12,50 €\r\n", "windows-1252, guessed"]])(
    "%s is decoded",
    async (name, text, encoding) => {
      expect(decodeText(await fixture(name))).toEqual({ text, encoding });
    },
  );

  const latin1 = (text: string) => Buffer.from(text, "latin1");
  const utf16 = (text: string) => Buffer.from(text, "utf16le");
  it.each<[string, Buffer, string, string]>([
    [
      "windows-1252",
      latin1("It\x92s \x93quoted\x94 \x96 yes"),
      "It’s “quoted” – yes",
      "windows-1252, guessed",
    ],
    [
      "windows-1252",
      latin1("\xc9t\xe9 \xe0 la mer, c\x9cur"),
      "Été à la mer, cœur",
      "windows-1252, guessed",
    ],
    ["windows-1252", latin1("\xdcBER GR\xd6SSE"), "ÜBER GRÖSSE", "windows-1252, guessed"],
    [
      "Mac Roman",
      latin1("Titel;Erl\x9as\rHafen;12,50 \xdb\r"),
      "Titel;Erlös\nHafen;12,50 €\n",
      "macintosh, guessed",
    ],
    [
      "Mac Roman",
      latin1("It\xd5s \xd2quoted\xd3 \xd0 yes"),
      "It’s “quoted” – yes",
      "macintosh, guessed",
    ],
    ["windows-1250", latin1("\xa3\xf3d\x9f;12,50 z\xb3"), "Łódź;12,50 zł", "windows-1250, guessed"],
    ["windows-1251", latin1("\xcf\xe5\xf1\xed\xff;12"), "Песня;12", "windows-1251, guessed"],
    [
      "Shift JIS",
      latin1("\x8b\xc8\x96\xbc,\x8d`\x82\xcc\x89\xcc\n"),
      "曲名,港の歌\n",
      "shift_jis, guessed",
    ],
    ["UTF-16 with a mark", utf16("\ufeffTitel;Erlös\r\n"), "Titel;Erlös\r\n", "UTF-16LE"],
    ["UTF-16 with a mark", utf16("\ufeff曲名\r\n"), "曲名\r\n", "UTF-16LE"],
    [
      "UTF-16 in the other order",
      utf16("\ufeffTitel;Erlös\r\n").swap16(),
      "Titel;Erlös\r\n",
      "UTF-16BE",
    ],
    [
      "damaged UTF-8",
      Buffer.concat([Buffer.from("für Größe, Öl, Übung, äöü"), latin1("\xff.")]),
      "für Größe, Öl, Übung, äöü\ufffd.",
      "UTF-8 with 1 invalid bytes, shown as \ufffd",
    ],
  ])("in %s is decoded", (_, bytes, text, encoding) => {
    expect(decodeText(bytes)).toEqual({ text, encoding });
  });

  it.each([
    ["zeros", Buffer.from([1, 0, 255])],
    ["control characters", Buffer.from([0xe9, 1])],
    ["numbers of four bytes", Buffer.from(Uint32Array.from({ length: 100 }, (_, n) => n).buffer)],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ])("is no file of %s", (_, bytes) => {
    expect(decodeText(bytes)).toBeNull();
  });

  test("is read with its encoding, has a copy in UTF-8, and stays as it is", async () => {
    const bytes = await fixture("tracks-cp1252.csv");
    await sandbox.writeFile("in/tracks.csv", bytes);
    const copy = "/home/agent/.converted/in/tracks.csv.utf8";
    expect(await run("read", { filePath: "in/tracks.csv" })).toEqual({
      ...{ filePath: "in/tracks.csv", content: "Titel;Erlös\r\nHafen;12,50 €\r\n" },
      ...{ startLine: 1, endLine: 2, totalLines: 2, truncated: false },
      ...{ encoding: "windows-1252, guessed", utf8Copy: copy },
    });
    expect(Buffer.from(await sandbox.readFile(copy)).toString()).toContain("12,50 €");
    expect(Buffer.from(await sandbox.readFile("in/tracks.csv"))).toEqual(bytes);
    expect(
      await run("edit", { filePath: "in/tracks.csv", oldString: "Hafen", newString: "x" }),
    ).toEqual({ error: expect.stringContaining("utf8Copy") });
  });
});
