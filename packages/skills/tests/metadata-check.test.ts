import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillJson, runSkillRefusal } from "./skill-json.ts";
import { runSkillScript } from "./skill-shell.ts";

const SCRIPT = ["metadata-check", "check_metadata.py"] as const;
const RELEASE = readFileSync(
  join(projectRoot, "tests/support/fixtures/skills/metadata-check/release.json"),
  "utf8",
);

interface Place {
  readonly track?: number;
  readonly field?: string;
}

/** Returns the places of each broken rule: track numbers, or names of fields. */
const places = (findings: Readonly<Record<string, { readonly listed: readonly Place[] }>>) =>
  Object.fromEntries(
    Object.entries(findings).map(([rule, { listed }]) => [
      rule,
      listed.map(({ track, field }) => track ?? field),
    ]),
  );

it("finds every broken rule of a release, with its place and source", async () => {
  const report = await runSkillJson(...SCRIPT, { stdin: RELEASE });
  expect(places(report.findings)).toEqual({
    advisory_missing: [2],
    artist_in_title: [4],
    artwork_color: ["artwork"],
    artwork_format: ["artwork"],
    artwork_size: ["artwork"],
    artwork_square: ["artwork"],
    artwork_text: ["artwork"],
    capitalization: ["release"],
    clean_without_explicit: [3],
    compound_artist: [3],
    explicit_in_title: [2],
    featured_format: [2],
    featured_in_title: [1, 2],
    featured_role_missing: [2],
    isrc_form: [2],
    isrc_missing: [5],
    isrc_reused: [3],
    language_code: [3],
    mixed_scripts: [4],
    original_date_later: ["original_release_date"],
    primary_is_featured: [4],
    primary_missing: [5],
    producer_in_title: [5],
    promotion_in_title: [4],
    script_differs: [5],
    unneeded_version: [3],
    upc: ["release"],
    version_in_title: [3],
    writer_missing: [2],
  });
  // The errors: 5 of the artwork, 1 date, 1 UPC, and 9 of the tracks.
  expect(report.counts).toEqual({ error: 16, warning: 11, hint: 3 });
  expect(report.findings.featured_role_missing.listed[0]).toMatchObject({
    value: "Salt ft. Ben Ode [Explicit]",
    source: "https://help.apple.com/itc/musicstyleguide/en.lproj/itcf71a21605.html",
  });
  expect(report.findings.isrc_reused.listed[0].note).toBe("also used for track 1");
  expect(report.findings.upc.listed[0].note).toBe("the last digit should be 2");
});

it("finds nothing in a release that follows the rules", async () => {
  const artists = [
    { name: "Harbor Lane", role: "primary" },
    { name: "Ada Reyes", role: "composer" },
  ];
  const release = {
    title: "Tidewater",
    upc: "198765432102",
    language: "en",
    release_date: "2026-06-05",
    original_release_date: "2026-06-05",
    artists: [{ name: "Harbor Lane", role: "primary" }],
    artwork: { width: 3000, height: 3000, format: "JPG", color: "RGB", text: "Tidewater" },
    tracks: [
      { title: "Clean Hands", isrc: "QZABC2600001", explicit: "explicit", artists },
      { title: "Clean Hands", version: "Live", isrc: "QZABC2600002", explicit: "none", artists },
      { title: "Я и ты", language: "ru", isrc: "QZABC2600003", explicit: "none", artists },
      { title: "Live Forever", isrc: "QZABC2600004", explicit: "none", artists },
    ],
  };
  const report = await runSkillJson(...SCRIPT, { stdin: JSON.stringify(release) });
  expect(report.findings).toEqual({});
});

it("reads a table of tracks, and compares its ISRCs with a catalog", async () => {
  const rows = [
    "Album;Title;Artist;Featured;ISRC;UPC;Release Date;Explicit;Language;Writers",
    "Night Dock;=Foghorn;Harbor Lane;Ada|Ben;QZ-ABC-26-00007;36000291452;05.06.2026;none;en;Ada",
  ];
  const report = await runSkillJson(...SCRIPT, {
    stdin: new Uint8Array([0xff, 0xfe, ...Buffer.from(rows.join("\r\n"), "utf16le")]),
    args: ["--catalog", "catalog.csv"],
    files: { "catalog.csv": "isrc,title\nQZABC2600007,Low Water\n" },
  });
  expect(places(report.findings)).toEqual({
    date_format: ["release_date"],
    isrc_reused: [1],
    single_title_differs: ["release"],
    upc: ["release"],
  });
  expect(report.findings.isrc_reused.listed[0]).toMatchObject({
    row: 2,
    note: "also used for Low Water in the catalog",
  });
});

it("prints a table without formulas, and refuses other input", async () => {
  const { stdout } = await runSkillScript(...SCRIPT, {
    stdin: "title,artist,explicit,language\n=CMD|TRACK,Harbor Lane,none,en\n",
    args: ["--format", "markdown"],
  });
  expect(stdout).toContain("| hint | capitalization | track 1 | '=CMD\\|TRACK |");
  expect(await runSkillRefusal(...SCRIPT, { stdin: '{"tracks":[]}' })).toMatch(
    /^The input needs a release object/,
  );
  expect(await runSkillRefusal(...SCRIPT, { stdin: "a,b\n1,2\n" })).toMatch(
    /^No tracks were found/,
  );
});
