/** A royalty statement goes in, the agent works on it, and its result comes out. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, it } from "vitest";
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
write \`0123456789012,12.50,=A1\` to summary.xlsx
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
    { content: expect.stringContaining("\n0123456789012,12.5,=A1\n") },
  ]);
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
  expect(Object.keys(files).sort()).toEqual(["in/", "in/statement.csv", "totals.csv"]);
  expect(Buffer.from(files["in/statement.csv"] ?? "").equals(statement)).toBe(true);
  expect(strFromU8(files["totals.csv"] ?? new Uint8Array())).toBe(totals);
});
