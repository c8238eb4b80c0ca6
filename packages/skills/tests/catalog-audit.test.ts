import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { findingRows, runSkillJson, runSkillRefusal } from "./skill-json.ts";
import { runSkillScript } from "./skill-shell.ts";

const SCRIPT = ["catalog-audit", "audit_catalog.py"] as const;
const CATALOG = readFileSync(
  join(projectRoot, "tests/support/fixtures/skills/catalog-audit/catalog.csv"),
  "utf8",
);

it("finds every fault of a catalog, with its rows", async () => {
  const report = await runSkillJson(...SCRIPT, { stdin: CATALOG });
  expect(report).toMatchObject({ rows: 11, complete_rows: 8, columns_absent: [] });
  expect(findingRows(report.findings)).toEqual({
    duplicate_row: [11],
    ipi_check_digit: [3],
    ipi_length: [4],
    isrc_malformed: [4],
    isrc_reused: [2],
    iswc_check_digit: [3],
    iswc_malformed: [12],
    missing_isrc: [12],
    missing_iswc: [10],
    missing_shares: [10],
    missing_writers: [10],
    recording_with_several_isrcs: [2],
    release_date_invalid: [9, 10],
    share_unreadable: [12],
    shares_count_differs: [9],
    shares_not_100: [8, 8],
    shares_rounded: [7],
    upc_check_digit: [3],
    upc_destroyed: [4],
    upc_leading_zero_lost: [9],
  });
  const details = (kind: string) => report.findings[kind].listed[0];
  expect(details("isrc_reused")).toMatchObject({ rows: [2, 5], isrc: "QZABC2600001" });
  expect(details("recording_with_several_isrcs")).toMatchObject({
    rows: [2, 6],
    isrcs: ["QZABC2600001", "QZABC2600009"],
  });
  // 198765432102 and T-123.456.789-4 are right: 1 + (1·1 + 2·2 + … + 9·9) = 286, and 286 + 4 = 290.
  expect(details("upc_check_digit").note).toBe("the last digit should be 2");
  expect(details("iswc_check_digit").note).toBe("the last digit should be 4");
  // 1·4 + 2·3 + 3·2 = 16, and 101 - 16 = 85.
  expect(details("ipi_check_digit").note).toBe("the last two digits should be 85");
  expect(details("ipi_length").note).toContain("00000012385");
  expect(details("upc_leading_zero_lost").note).toContain("036000291452");
  expect(details("shares_rounded")).toMatchObject({ total: "99.90", field: "shares" });
  expect(report.findings.shares_not_100.listed).toMatchObject([
    { field: "shares", total: "90.00" },
    { field: "master_shares", total: "60.00" },
  ]);
  expect(details("missing_isrc").title).toBe(`'=HYPERLINK("http://example.com")`);
  expect(report.findings.isrc_reused.severity).toBe("error");
  expect(report.findings.shares_rounded.severity).toBe("hint");
});

it("accepts the check digits of published examples", async () => {
  // ISWC and IPI: Wikipedia, GS1: gs1.org/how-calculate-check-digit-manually (6291041500213).
  const rows = [
    "Title;IPI;ISWC;EAN",
    "One;00045620792|00052210040|00334284961|00014107338;T-034.524.680-1;6291041500213",
    "Two;00045620793;T-010.171.314-7;6291041500214",
    "Three;;T-000.000.001-0;",
  ];
  const report = await runSkillJson(...SCRIPT, { stdin: `\ufeff${rows.join("\r\n")}` });
  expect(report.source.encoding).toBe("utf-8-sig");
  expect(findingRows(report.findings)).toEqual({
    ipi_check_digit: [3],
    missing_upc: [4],
    upc_check_digit: [3],
  });
});

it("adds the shares of one writer per row, by recording and release, with decimal commas", async () => {
  const rows = [
    "Katalog;;;;",
    "Titel;ISRC;UPC;Writers;Shares",
    "Harbor Lights;QZABC2600001;198765432102;Ada;62,5",
    "Harbor Lights;QZ-ABC-26-00001;198765432102;Ben;37,5",
    "Harbor Lights;QZABC2600001;4051234567896;Ada;62,5",
    "Harbor Lights;QZABC2600001;4051234567896;Ben;37,4",
  ];
  const stdin = new Uint8Array(Buffer.from(`\ufeff${rows.join("\n")}`, "utf16le"));
  const report = await runSkillJson(...SCRIPT, { stdin, args: ["--map", "Titel=title"] });
  expect(report.source).toMatchObject({ header_row: 2, encoding: "utf-16" });
  expect(report.findings).toMatchObject({
    shares_rounded: { count: 1, listed: [{ rows: [5, 6], total: "99.90" }] },
  });
  expect(Object.keys(report.findings)).toEqual(["shares_rounded"]);
});

it("audits 20,000 rows and lists a bounded part of them", async () => {
  const lines = ["title,artist,isrc,upc"];
  for (let index = 0; index < 20_000; index++) {
    const code = String(index % 10_000).padStart(5, "0");
    lines.push(`Song ${index},Harbor Lane,QZABC26${code},198765432102`);
  }
  const report = await runSkillJson(...SCRIPT, { stdin: lines.join("\n") });
  expect(report).toMatchObject({ rows: 20_000, recordings: 10_000 });
  expect(report.findings.isrc_reused).toMatchObject({ count: 10_000, omitted: 9980 });
});

it("prints a table and refuses a table without titles", async () => {
  const { stdout } = await runSkillScript(...SCRIPT, {
    stdin: CATALOG,
    args: ["--format", "markdown"],
  });
  expect(stdout).toContain("| error | upc_destroyed | 1 | 4 |");
  const refusal = await runSkillRefusal(...SCRIPT, { stdin: "a,b\n1,2\n" });
  expect(refusal).toMatch(/^No header row was found/);
});
