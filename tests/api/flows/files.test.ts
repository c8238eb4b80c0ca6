/** A royalty statement goes in, the agent works on it, and its result comes out. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, it } from "vitest";
import { parseMarkdown } from "../../../packages/documents/src/markdown.ts";
import { writeDocx } from "../../../packages/documents/src/write-docx.ts";
import { writePdf } from "../../../packages/documents/src/write-pdf.ts";
import { writeSpreadsheet } from "../../../packages/documents/src/write-spreadsheet.ts";
import { createPerson } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";

const statement = await readFile(
  join(import.meta.dirname, "../../support/fixtures/royalty-statement.csv"),
);
/** Royalties by track, in the order of the statement. */
const totals = "Harbor Lights,1679.60\nSalt & Ember,404.35\nNachtzug (Live),750.00\n";
const sumUp = `awk -F, 'NR > 1 { if (!($2 in sum)) order[++n] = $2; sum[$2] += $7 } END { for (i = 1; i <= n; i++) printf "%s,%.2f\\n", order[i], sum[order[i]] }' in/statement.csv > totals.csv`;

it("reads attached documents, a statement's sheets as CSV, and writes documents", async () => {
  const { withKey } = await createPerson();
  const conversation = await openConversation(withKey);
  const documents = join(import.meta.dirname, "../../support/fixtures/documents");
  const attached = async (filename: string) => ({
    type: "file",
    mediaType: "application/octet-stream",
    filename,
    url: `data:application/octet-stream;base64,${(await readFile(join(documents, filename))).toString("base64")}`,
  });
  const text = `read uploads/contract.docx
read uploads/statement.xlsx
run \`head -2 .converted/uploads/statement.xlsx/statement.csv | cut -d, -f3\`
write \`# Übersicht – “Łódź”\` to summary.pdf
read summary.pdf
write \`0123456789012,12.50,=B1*2\` to summary.xlsx
read summary.xlsx`;
  const files = await Promise.all(["contract.docx", "statement.xlsx"].map(attached));
  const parts = [{ type: "text", text }, ...files];
  await (await conversation.send([{ id: "m1", parts }])).ended;
  const outputs = (await conversation.answer()).parts.flatMap((part) =>
    "output" in part ? [part.output] : [],
  );
  expect(outputs).toMatchObject([
    { content: expect.stringContaining("Germany | 18.5 %") },
    { content: expect.stringContaining("XLSX, 1 sheet.") },
    { stdout: "UPC\n0123456789012\n" },
    { filePath: "summary.pdf", format: "PDF", pages: 1 },
    { content: expect.stringContaining("Übersicht – “Łódź”") },
    { filePath: "summary.xlsx", format: "XLSX", rows: 1, columns: 3 },
    { content: expect.stringContaining("\n0123456789012,12.5,25\n") },
  ]);
});

it("finds the clause of a contract of 40 pages, with its page, and a figure of a statement, with its row", async () => {
  const shareOf = (number: number) => `${(10 + number / 100).toFixed(2)} %`;
  const clauses = Array.from({ length: 400 }, (_, number) => {
    return `## ${number}. Territory ${number}\n\nThe Artist receives ${shareOf(number)} of the net receipts of territory ${number}. ${"The Label accounts twice a year. ".repeat(12)}\n`;
  });
  const contract = parseMarkdown(`# Licence Agreement\n\n${clauses.join("\n")}`);
  const pdf = await writePdf(contract);
  expect(pdf.pages).toBeGreaterThanOrEqual(40);
  const rows = Array.from(
    { length: 500 },
    (_, row) => `Store ${row},QZ1AB26${String(row).padStart(5, "0")},${row}.25`,
  );
  const csv = `Store,ISRC,Net\n${rows.join("\n")}`;
  const xlsx = writeSpreadsheet([{ name: "statement", csv, hasFormulas: false }]);
  const attached = (filename: string, bytes: Uint8Array) => ({
    type: "file",
    mediaType: "application/octet-stream",
    filename,
    url: `data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`,
  });
  const { withKey } = await createPerson();
  const conversation = await openConversation(withKey);
  const text = `read uploads/contract.pdf lines 1500 to 1700
read uploads/contract.docx lines 800 to 820
read uploads/statement.xlsx
run \`grep -n "QZ1AB2600321" .converted/uploads/statement.xlsx/statement.csv\``;
  const files = [
    attached("contract.pdf", pdf.bytes),
    attached("contract.docx", writeDocx(contract)),
    attached("statement.xlsx", xlsx.bytes),
  ];
  await (await conversation.send([{ id: "m1", parts: [{ type: "text", text }, ...files] }])).ended;
  const outputs = (await conversation.answer()).parts.flatMap((part) =>
    "output" in part ? [part.output as { content?: string; stdout?: string }] : [],
  );
  // Each page has its number printed on it, so the number that the agent is given is not its own evidence.
  const inPdf = outputs[0]?.content ?? "";
  const pages = [...inPdf.matchAll(/^--- Page (\d+) ---$([\s\S]*?)^(\d+) \/ (\d+)$/gm)];
  expect(pages.length).toBeGreaterThanOrEqual(2);
  for (const [, page, , printed, of] of pages)
    expect([page, of]).toEqual([printed, `${pdf.pages}`]);
  const [, territory = ""] = /^(\d+)\. Territory/m.exec(inPdf) ?? [];
  expect(inPdf).toContain(
    `receives ${shareOf(Number(territory))} of the net receipts of territory ${territory}.`,
  );
  expect(outputs[1]?.content).toContain("## 266. Territory 266\nThe Artist receives 12.66 %");
  expect(outputs[2]?.content).toContain("XLSX, 1 sheet. As CSV with 501 rows");
  // The heading is the first row.
  expect(outputs[3]?.stdout).toBe("323:Store 321,QZ1AB2600321,321.25\n");
});

it("an uploaded statement is summed up by the agent, and the totals are downloaded", async () => {
  const { withKey } = await createPerson();
  const conversation = await openConversation(withKey);
  const { sessionId } = conversation;
  const content = (path: string) =>
    `${withKey.url}/api/sandbox/files/content?${new URLSearchParams({ sessionId, path })}`;
  const options = { headers: withKey.headers };
  const uploaded = await fetch(content("in/statement.csv"), {
    ...options,
    method: "PUT",
    body: statement,
  });
  expect(uploaded.status).toBe(201);

  const url = "sandbox:/home/agent/in/statement.csv";
  const parts = [
    { type: "text", text: `Run \`${sumUp}\`` },
    { type: "file", mediaType: "text/csv", filename: "statement.csv", url },
  ];
  await (await conversation.send([{ id: "m1", parts }])).ended;
  expect(await (await fetch(content("totals.csv"), options)).text()).toBe(totals);

  const archive = await fetch(`${withKey.url}/api/sandbox/archive?sessionId=${sessionId}`, options);
  const files = unzipSync(new Uint8Array(await archive.arrayBuffer()));
  // The folder of the workspace is there before it has a file.
  const names = ["in/", "in/statement.csv", "totals.csv", "workspace/"];
  expect(Object.keys(files).sort()).toEqual(names);
  expect(Buffer.from(files["in/statement.csv"] ?? "").equals(statement)).toBe(true);
  expect(strFromU8(files["totals.csv"] ?? new Uint8Array())).toBe(totals);
});
