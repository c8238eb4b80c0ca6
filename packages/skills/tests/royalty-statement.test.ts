import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { findingRows, netsByKey, runSkillJson, runSkillRefusal } from "./skill-json.ts";
import { runSkillScript } from "./skill-shell.ts";

const SAMPLE = readFileSync(
  join(projectRoot, "tests/support/fixtures/skills/royalty-statement/distrokid.tsv"),
  "utf8",
);

it("totals a DistroKid statement without applying the team percentage again", async () => {
  const previous = SAMPLE.split("\n")
    .slice(0, 2)
    .concat(
      "2026-06-15\t2026-03\tNapster\tHarbor Lane\tSalt & Ember\tQZABC2600002\t198765432102\t900\t50\tSong\tUS\t0\t57.86",
    )
    .join("\n");
  const report = await runSkillJson("royalty-statement", "analyze_statement.py", {
    stdin: SAMPLE,
    args: ["--file-name", "q3.tsv", "--expected-shares", "shares.csv", "--previous", "q2.tsv"],
    files: {
      "shares.csv": "ISRC,Share\nQZ-ABC-26-00001,50\nQZABC2600002,25%\n",
      "q2.tsv": previous,
    },
  });
  expect(report.source).toMatchObject({ file: "q3.tsv", layout: "distrokid", header_row: 1 });
  const usd = report.currencies.USD;
  // Worked out with awk from the fixture: sums by column, independent of the script.
  expect(usd).toMatchObject({ rows: 30, net: "324.29", quantity: "235350", withheld: "2.09" });
  expect(netsByKey(usd.by_store)).toEqual({
    Spotify: "200.33",
    "Apple Music": "60.20",
    iTunes: "33.53",
    "YouTube (Ads)": "17.25",
    Deezer: "9.63",
    TikTok: "2.27",
    Facebook: "1.08",
  });
  expect(netsByKey(usd.by_territory)).toEqual({
    US: "194.28",
    DE: "76.37",
    GB: "46.89",
    FR: "6.75",
  });
  expect(netsByKey(usd.by_period)).toEqual({ "2026-06": "188.37", "2026-07": "135.92" });
  expect(netsByKey(usd.by_track)).toMatchObject({ QZABC2600001: "250.39", QZABC2600002: "48.39" });
  // 9.63 / 2,140 units
  expect(usd.by_store.listed[4].net_per_unit).toBe("0.0045");
  expect(report.findings.unmatched_row.listed).toEqual([
    { row: 31, net: "1.08", currency: "USD", title: "Harbor Lights (Live at the Pier)" },
  ]);
  expect(findingRows(report.findings)).toEqual({ negative_row: [29], unmatched_row: [31] });

  // 250.39 × 50 % + 48.39 × 25 % = 125.195 + 12.0975; two album rows and one row without codes remain.
  expect(report.expected_shares.USD).toMatchObject({
    part: "137.29",
    part_unrounded: "137.2925",
    rows_without_share: 3,
    net_without_share: "25.51",
  });
  // Before: 42.14 + 57.86 = 100.00.
  expect(report.comparison.USD.total).toEqual({
    current: "324.29",
    previous: "100.00",
    change: "224.29",
    change_percent: "224.29",
  });
  const stores = report.comparison.USD.by_store.listed;
  expect(stores).toContainEqual({
    key: "Napster",
    status: "gone",
    current: "0.00",
    previous: "57.86",
    change: "-57.86",
    change_percent: "-100.00",
  });
  expect(stores).toContainEqual({
    key: "Deezer",
    status: "new",
    current: "9.63",
    previous: "0.00",
    change: "9.63",
    change_percent: null,
  });
});

const HOSTILE = [
  "Statement for Harbor Lane;;;;;;;",
  "Q3 2026;;;;;;;",
  "Monat;Kanal;Titel;ISRC;EAN;Menge;Betrag;Währung",
  '01.07.2026;Spotify;"=HYPERLINK(""http://example.com"")";QZ-ABC-26-00001;4051234567896;1.000;12,50;EUR',
  "01.07.2026;Deezer;Salt;QZABC2600002;1,9E+11;200;(2,25);EUR",
  "01.07.2026;Spotify;Salt;QZABC26002;4051234567897;10;1.234,56;EUR",
  "",
  '01.07.2026;Spotify;"=HYPERLINK(""http://example.com"")";QZ-ABC-26-00001;4051234567896;1.000;12,50;EUR',
  "01.07.2026;Spotify;Salt;QZABC2600002;4051234567896;5;=1+1;EUR",
  "01.08.2026;Spotify;Salt;QZABC2600002;4051234567896;300;3,00;USD",
  "Summe;;;;;;1.257,31;EUR",
  "Summe;;;;;;4,00;USD",
  "01.08.2026;Spotify;Salt;QZABC2600002;4051234567896;7;;EUR",
].join("\r\n");
const HOSTILE_MAP = [
  "Monat=period",
  "Kanal=store",
  "Titel=title",
  "ISRC=isrc",
  "EAN=upc",
  "Menge=quantity",
  "Betrag=net",
  "Währung=currency",
].flatMap((pair) => ["--map", pair]);

describe("a hostile table", () => {
  it("is read as UTF-16 with semicolons, decimal commas, a preamble and two currencies", async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, ...Buffer.from(HOSTILE, "utf16le")]);
    const { source, currencies, totals_checked, findings } = await runSkillJson(
      "royalty-statement",
      "analyze_statement.py",
      {
        stdin: utf16,
        args: HOSTILE_MAP,
      },
    );
    expect(source).toMatchObject({
      layout: "generic",
      encoding: "utf-16",
      header_row: 3,
      decimal_mark: "comma",
    });
    // 12.50 - 2.25 + 1,234.56 + 12.50; the total rows are checked and not counted.
    expect(currencies.EUR).toMatchObject({ rows: 4, net: "1257.31", quantity: "2210" });
    expect(currencies.USD).toMatchObject({ rows: 1, net: "3.00" });
    expect(netsByKey(currencies.EUR.by_track)).toEqual({
      QZABC26002: "1234.56",
      QZABC2600001: "25.00",
      QZABC2600002: "-2.25",
    });
    expect(netsByKey(currencies.EUR.by_period)).toEqual({ "2026-07": "1257.31" });
    expect(totals_checked).toMatchObject([
      { row: 11, stated: "1257.31", computed: "1257.31", ok: true },
      { row: 12, stated: "4.00", computed: "3.00", ok: false },
    ]);
    expect(findings.total_differs.listed[0].difference).toBe("1.00");
    expect(findings.duplicate_row.listed).toEqual([{ row: 8, same_as: 4, net: "12.50" }]);
    expect(findings.unreadable_number.listed).toEqual([{ row: 9, field: "net", cell: "'=1+1" }]);
    expect(findingRows(findings)).toEqual({
      duplicate_row: [8],
      isrc_malformed: [6],
      missing_amount: [13],
      negative_row: [5],
      total_differs: [12],
      unreadable_number: [9],
      upc_check_digit: [6],
      upc_destroyed: [5],
    });
  });

  it("becomes canonical rows in which no cell is a formula", async () => {
    const { stdout } = await runSkillScript("royalty-statement", "analyze_statement.py", {
      stdin: HOSTILE,
      args: [...HOSTILE_MAP, "--format", "csv", "--file-name", "=statement.csv"],
    });
    const [, first, second] = stdout.split("\n");
    expect(first).toContain(`"'=HYPERLINK(""http://example.com"")"`);
    expect(first).toMatch(/^'=statement\.csv,,4,01\.07\.2026,.*,1000\.00,.*,12\.50,EUR,,$/);
    expect(second).toContain(",-2.25,EUR,");
  });
});

it("totals 200,000 rows exactly", async () => {
  const lines = ["Track\tPrice\tCode"];
  for (let index = 0; index < 200_000; index++) {
    const amount = `0.${String(index % 1000).padStart(4, "0")}${String(index).padStart(6, "0")}`;
    lines.push(`Song ${index % 300}\t${amount}\tQZABC26${String(index % 300).padStart(5, "0")}`);
  }
  const report = await runSkillJson("royalty-statement", "analyze_statement.py", {
    stdin: lines.join("\n"),
    args: ["--map", "Track=title", "--map", "Price=net", "--map", "Code=isrc", "--currency", "USD"],
  });
  // 200 × (0 + 1 + … + 999) / 10⁴ + (0 + 1 + … + 199,999) / 10¹⁰
  expect(report.currencies.USD).toMatchObject({ rows: 200_000, net: "9991.99999" });
  expect(report.currencies.USD.by_track.others.groups).toBe(275);
});

it.each([
  { stdin: "", args: [], message: /^The input is empty\.$/ },
  { stdin: "a,b\n1,2\n", args: [], message: /^No known layout has these columns: a \| b\. Map/ },
  { stdin: "a,b\n1,2\n", args: ["--map", "a=net"], message: /^The statement names no currency/ },
  { stdin: "a,b\n1,2\n", args: ["--map", "a=netto"], message: /^--map a=netto must be/ },
  {
    stdin: `a,b\n"${"x".repeat(200_000)},2\n`,
    args: ["--map", "a=net"],
    message: /cannot be read/,
  },
])("refuses bad input with one sentence: $message", async ({ stdin, args, message }) => {
  const run = { stdin, args };
  const refusal = await runSkillRefusal("royalty-statement", "analyze_statement.py", run);
  expect(refusal).toMatch(message);
});
