import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillScript } from "./skill-shell.ts";

const fixture = (name: string) =>
  readFileSync(join(projectRoot, "tests/support/fixtures/skills/setlist", name));
const event = JSON.parse(fixture("event.json").toString());

function check(
  stdin: string | Uint8Array,
  args: readonly string[] = [],
  performance: object | string = event,
) {
  return runSkillScript("setlist", "check_setlist.py", {
    stdin,
    args: ["--event", "event.json", "--today", "2026-11-25", ...args],
    files: {
      "event.json": typeof performance === "string" ? performance : JSON.stringify(performance),
    },
  });
}

/** Returns the last days of the statements of each society. */
async function lastDays(societies: string, performance: object) {
  const { stdout } = await check(fixture("works.csv"), ["--society", societies], {
    ...event,
    ...performance,
  });
  const { deadlines } = JSON.parse(stdout);
  return Object.fromEntries(
    deadlines.map((deadline: { society: string; statements: { last_day: string | null }[] }) => [
      deadline.society,
      deadline.statements.map(({ last_day }) => last_day),
    ]),
  );
}

describe("check_setlist.py", () => {
  it("accepts a complete list and names works without an identifier", async () => {
    const { stdout } = await check(fixture("works.csv"), [
      ...["--society", "PRS,SESAC", "--file-name", "works.csv"],
    ]);
    const result = JSON.parse(stdout);
    // 4:05 + 3:10 + 1:02:30 + 5:00 + 2:15 = 77 minutes.
    expect(result).toMatchObject({
      ready: true,
      works_count: 5,
      works_seconds: 4620,
      problems: [],
    });
    // Both ISWCs are published examples with correct check digits.
    expect(result.works[0]).toMatchObject({
      row: 2,
      iswc: "T-034.524.680-1",
      writers: ["Mara Lindqvist", "Tobias Okafor"],
    });
    expect(result.works[1].iswc).toBe("T-010.171.314-7");
    expect(result.warnings).toEqual([
      { row: 5, warning: "neither ISWC nor work number; search the society's database" },
    ]);
    expect(result.deadlines[0]).toMatchObject({
      society: "PRS",
      sources_agree: true,
      plan_for: "2027-08-31",
      // 5 days of November, then 243 days until 31 July, then 31.
      days_left: 279,
      status: "open",
    });
    expect(result.deadlines[1]).toMatchObject({ society: "SESAC", status: "unknown" });
  });

  it("cites both pages of PRS where they disagree, and calculates the other societies", async () => {
    const abroad = { venue_size: "concert" };
    expect(await lastDays("PRS,GEMA", { ...abroad, country: "DE" })).toEqual({
      PRS: ["2028-08-31", "2029-08-31"],
      GEMA: ["2027-02-28"],
    });
    const { stdout } = await check(fixture("works.csv"), ["--society", "PRS"], {
      ...event,
      country: "FR",
    });
    const [prs] = JSON.parse(stdout).deadlines;
    expect(prs).toMatchObject({ sources_agree: false, plan_for: "2028-08-31" });
    expect(prs.statements.map(({ source }: { source: string }) => source)).toEqual([
      "https://www.prsformusic.com/help/how-long-do-i-have-to-report-a-live-performance",
      "https://www.prsformusic.com/members-news/when-do-i-need-to-report-my-setlists-by",
    ]);
    expect(prs.ask).toContain("Ask PRS");
    expect(await lastDays("PRS,ASCAP,BMI", { country: "US", date: "2024-02-29" })).toEqual({
      PRS: [null, null],
      ASCAP: ["2024-06-30"],
      BMI: ["2024-08-29"],
    });
    expect(await lastDays("PRS,ASCAP,SOCAN", { country: "CA", date: "2024-02-29" })).toEqual({
      PRS: ["2026-02-28", null],
      ASCAP: [null],
      SOCAN: ["2025-02-28"],
    });
    expect(await lastDays("ASCAP", { country: "US", date: "2025-10-01" })).toEqual({
      ASCAP: ["2026-03-31"],
    });
  });

  it("writes a CSV without formulas, and a sheet with all sources", async () => {
    const csv = (await check(fixture("works.csv"), ["--format", "csv"])).stdout.split("\n");
    expect(csv[0]).toBe("title,writers,iswc,work number,duration,note");
    expect(csv[3]).toBe("Copper Lantern,Mara Lindqvist,,1234567A,62:30,long version");
    expect(csv[5]).toBe(`'+Uplift,Mara Lindqvist,,7654321B,2:15,"'@intro, ""live"""`);
    const sheet = await check(fixture("hostile.csv"), ["--format", "markdown", "--society", "PRS"]);
    expect(sheet.stdout).toContain("| 1 | =cmd\\|'/c calc'!A1 | Ann |");
    expect(sheet.stdout.match(/prsformusic\.com/g)).toHaveLength(2);
  });

  it("lists the problems of hostile rows and of the event", async () => {
    const { stdout } = await check(fixture("hostile.csv"), [], {
      date: "2026-12-24",
      venue: ["list"],
      country: "Germany",
      role: "dj",
      set_minutes: -5,
    });
    const result = JSON.parse(stdout);
    expect(result.ready).toBe(false);
    expect(result.works).toHaveLength(4);
    const problems: { row: number | null; problem: string }[] = result.problems;
    expect(problems.filter(({ row }) => row !== null).map(({ row }) => row)).toEqual([
      2, 2, 2, 3, 3, 3, 4, 4, 5, 5,
    ]);
    expect(problems.map(({ problem }) => problem)).toEqual(
      expect.arrayContaining([
        "the title is a spreadsheet formula",
        "the check digit of the ISWC T-034.524.680-2 is wrong; look the work up at the society",
        'the duration "-3:00" is not written as 3:45 or 1:02:30',
        "the writers are missing (also for a cover or a traditional)",
        "the duration 700:00 is not plausible for a work",
        'the venue is missing ("venue")',
        "the country must be two letters, such as GB",
        'the role must be "headliner" or "support"',
        "the performance on 2026-12-24 has not taken place yet",
        "set_minutes must be the duration of the set in whole minutes, 1 to 1440",
      ]),
    );
    const short = JSON.parse(
      (await check(fixture("works.csv"), [], { ...event, set_minutes: 60 })).stdout,
    );
    expect(short.problems).toEqual([
      { row: null, problem: "the works last 77:00, longer than the set of 60 minutes" },
    ]);
  });

  it("reads UTF-16, and refuses unusable input in one sentence", async () => {
    const utf16 = Buffer.from("\ufeffTitel;Urheber\nBrücke;Jörg Weiß\n", "utf16le");
    expect(JSON.parse((await check(utf16)).stdout).works[0]).toMatchObject({
      title: "Brücke",
      writers: ["Jörg Weiß"],
    });
    const refused: [string, object | string, string][] = [
      ["", event, "standard input is empty"],
      ["name\nx\n", event, "needs the columns title and writers"],
      ["title,writers\n", event, "has 0 works"],
      ["title,writers\na,b\n", "{", "event.json is not JSON"],
      ["title,writers\na,b\n", "[]", "must be a JSON object"],
      ["title,writers\na,b\n", { ...event, date: "2026-02-30" }, "a date that exists"],
    ];
    for (const [stdin, performance, message] of refused) {
      const answer = await check(stdin, [], performance);
      expect(answer.exitCode).toBe(2);
      expect(answer.stderr).toContain(message);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});
