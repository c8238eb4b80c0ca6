import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillScript } from "./skill-shell.ts";

const fixture = (name: string) =>
  readFileSync(join(projectRoot, "tests/support/fixtures/skills/release-plan", name));

interface PlannedDate {
  readonly id: string;
  readonly date: string;
  readonly status: string;
  readonly kind: string;
  readonly moved_from?: string;
}

function plan(stdin: string | Uint8Array, ...args: string[]) {
  return runSkillScript("release-plan", "plan_release.py", {
    stdin,
    args,
    files: {
      "holidays.csv": fixture("holidays.csv"),
      "bad-holidays.csv": "date,territory,name\n2027-02-30,DE,No such day\n",
    },
  });
}

describe("plan_release.py", () => {
  it("counts working days around Easter and warns about dates that have passed", async () => {
    const { stdout } = await plan(
      fixture("tasks.csv"),
      ...["--release", "2027-04-09", "--today", "2027-03-31"],
      ...["--holidays", "holidays.csv", "--territories", "DE,GB,FR", "--file-name", "tasks.csv"],
    );
    const result = JSON.parse(stdout);
    const dates = Object.fromEntries(
      (result.dates as PlannedDate[]).map((entry) => [entry.id, entry]),
    );
    // Twenty working days back from Friday 9 April: 5 to 8 April, 30 March to 2 April, 22 to 25 March
    // (Good Friday and Easter Monday are off), 15 to 19 March, and 12, 11 and 10 March.
    expect(dates.delivery).toMatchObject({ date: "2027-03-10", kind: "required", row: 2 });
    expect(dates["spotify-pitch"]).toMatchObject({
      date: "2027-03-25",
      moved_from: "2027-03-26",
      moved_because: "Karfreitag (DE), Good Friday (GB)",
    });
    expect(dates["spotify-latest"]).toMatchObject({
      date: "2027-04-02",
      kind: "required",
      status: "ahead",
      days_left: 2,
    });
    expect(dates.vinyl).toMatchObject({ date: "2027-04-02", moved_from: "2027-04-03" });
    // Two working days after a Friday: Monday, Tuesday.
    expect(dates["royalty-note"]).toMatchObject({ date: "2027-04-13" });
    expect(dates.release).toMatchObject({ date: "2027-04-09", weekday: "fri" });
    expect(dates["amazon-pitch"]).toBeUndefined();
    expect(result.warnings).toContain(
      "REQUIRED: Deliver to Harbour Distribution: the date 2027-03-10 has passed 21 days ago.",
    );
    expect(result.warnings).toContain("No holidays are given for FR.");
    expect(result.warnings).toHaveLength(7);
    // 30 April less twenty working days is 2 April; 7 May less 35 days is 2 April.
    expect(result.earliest_release).toEqual({
      keeping_required: "2027-04-30",
      keeping_all: "2027-05-07",
    });
  });

  it("moves dates after the release forward, and never the release itself", async () => {
    const sunday = JSON.parse(
      (await plan("", "--release", "2027-02-28", "--today", "2027-03-01")).stdout,
    );
    const dates = sunday.dates as PlannedDate[];
    expect(dates.find(({ id }) => id === "release")).toMatchObject({
      date: "2027-02-28",
      status: "passed",
    });
    // A week later is Sunday 7 March, so Monday; a week before is Sunday 21 February, so Friday.
    expect(dates.find(({ id }) => id === "registration")?.date).toBe("2027-03-08");
    expect(dates.find(({ id }) => id === "spotify-latest")?.date).toBe("2027-02-19");
    expect(sunday.warnings).toContain("The release date 2027-02-28 has passed.");
    expect(sunday.warnings.join()).toContain("The release date is a sun, not a fri.");
    const gulf = await plan(
      "",
      ...["--release", "2028-03-03", "--today", "2028-01-01", "--weekend", "fri,sat"],
      ...["--format", "markdown"],
    );
    // In a leap year, 7 days before 3 March is Friday 25 February: moved to Thursday.
    expect(gulf.stdout).toContain(
      "| 2028-02-24 | thu | Last date to pitch one unreleased track to Spotify | required | ahead | from 2028-02-25: weekend |",
    );
  });

  it("reads UTF-16, and refuses unusable input in one sentence", async () => {
    const utf16 = Buffer.from("\ufeffid,days\nteaser,-3\n", "utf16le");
    const teaser = JSON.parse((await plan(utf16, "--release", "2027-04-09")).stdout).dates;
    expect(teaser.find(({ id }: PlannedDate) => id === "teaser")?.date).toBe("2027-04-06");
    const refused: [string, string[], string][] = [
      ["", ["--release", "2027-02-30"], "a date that exists"],
      ["", ["--release", "9999-01-01"], "from 2000 to 2100"],
      ["id,days\nx,-99999\n", [], "whole number from -730 to 730"],
      ["id,days\nx,=1+1\n", [], "row 2 has a spreadsheet formula"],
      ["id,days\nx,-1\nx,-2\n", [], "empty or used twice"],
      ["id,days,kind\nx,-1,urgent\n", [], "kind must be required or practice"],
      ["name\nx\n", [], "missing: id, days"],
      ["", ["--holidays", "bad-holidays.csv", "--territories", "DE"], "row 2: the date"],
      ["", ["--holidays", "holidays.csv"], "needed together"],
    ];
    for (const [stdin, args, message] of refused) {
      const answer = await plan(stdin, "--release", "2027-04-09", ...args);
      expect(answer.exitCode).toBe(2);
      expect(answer.stderr).toContain(message);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});
