import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillScript } from "./skill-shell.ts";

const fixture = (name: string) =>
  readFileSync(join(projectRoot, "tests/support/fixtures/skills/split-sheet", name));

function check(stdin: string | Uint8Array, ...args: string[]) {
  return runSkillScript("split-sheet", "check_splits.py", {
    stdin,
    args,
    files: { "registration.csv": fixture("registration.csv") },
  });
}

describe("check_splits.py", () => {
  it("rounds thirds to exactly 100.00, compares, and divides to the cent", async () => {
    const { stdout, exitCode } = await check(
      fixture("night-bus.csv"),
      ...["--file-name", "night-bus.csv", "--against", "registration.csv"],
      ...["--amount", "100.01", "--currency", "EUR"],
    );
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ file: "night-bus.csv", ready_to_sign: true, problems: [] });
    const { composition, master } = result.tables;
    expect(composition).toMatchObject({ total: "100.00", difference: "0.00" });
    expect(composition.parties.map((party: { share: string }) => party.share)).toEqual([
      "33.34",
      "33.33",
      "33.33",
    ]);
    expect(master).toMatchObject({ total: "100.00", is_exactly_100: true });
    expect(master.parties.map((party: { share: string }) => party.share)).toEqual([
      "60.00",
      "40.00",
    ]);
    // Published numbers pass; the last one has a changed check digit, and one lost its zeros.
    expect(composition.parties[1].ipi).toBe("00052210040");
    expect(result.warnings.map(({ row }: { row: number }) => row)).toEqual([3, 4, 2, 3, 4]);
    expect(result.warnings[1].warning).toContain("check digits of the IPI 00334284960 are wrong");
    // The registration has no master table, so only compositions are compared.
    expect(result.differences).toEqual([
      { table: "composition", name: "Elif Brandt", share: null, other: "16.66" },
      { table: "composition", name: "Jun Aldana", share: "33.33", other: null },
      { table: "composition", name: "Tobias Okafor", share: "33.33", other: "50.00" },
    ]);
    // 33.343334, 33.333333 and 33.333333: one cent is left, for the largest fraction of a cent.
    expect(result.payment).toMatchObject({ currency: "EUR", amount: "100.01", sum: "100.01" });
    expect(result.payment.payees.map((payee: { amount: string }) => payee.amount)).toEqual([
      "33.35",
      "33.33",
      "33.33",
    ]);
  });

  it("writes a sheet to sign, and a draft if something is wrong", async () => {
    const sheet = await check(
      fixture("night-bus.csv"),
      ...["--format", "markdown", "--title", "Night Bus", "--date", "2026-11-25"],
    );
    expect(sheet.stdout).toContain("# Split sheet: Night Bus\n");
    expect(sheet.stdout).not.toContain("DRAFT");
    expect(sheet.stdout).toContain("| Jun Aldana | J\\|UN | beat | 33.33 | ASCAP |");
    expect(sheet.stdout.match(/\*\*100\.00\*\*/g)).toHaveLength(2);
    const draft = await check(fixture("hostile.csv"), "--format", "markdown");
    expect(draft.stdout).toContain("**DRAFT. Do not sign");
    expect(draft.stdout).toContain("Ana \\| Ruiz");
  });

  it("lists every hostile row and drops none", async () => {
    const { stdout } = await check(fixture("hostile.csv"));
    const result = JSON.parse(stdout);
    expect(result.ready_to_sign).toBe(false);
    const problems: { row: number; problem: string }[] = result.problems;
    expect(problems.map(({ row }) => row)).toEqual([2, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10]);
    expect(problems.map(({ problem }) => problem)).toEqual([
      "the name is a spreadsheet formula",
      "the share is a spreadsheet formula; enter the number",
      "the share -10 is not above 0 and at most 100 %",
      'the share "1e3" is not a number',
      "Ana | Ruiz is listed twice in the composition table",
      "the name is missing",
      'the table "publishing rights" is neither composition nor master',
      "the share 150 is not above 0 and at most 100 %",
      "the share (20) is not above 0 and at most 100 %",
      "the share 0 is not above 0 and at most 100 %",
      'the share "1/0" is not a number',
    ]);
    expect(result.tables.composition.parties).toHaveLength(4);
    expect(result.tables.master.parties).toHaveLength(4);
  });

  it("finds a hundredth that is missing, and hints at the 200 % model", async () => {
    const missing = JSON.parse(
      (await check("table,name,share\nmaster,A,33.33\nmaster,B,33.33\nmaster,C,33.33\n")).stdout,
    );
    expect(missing.tables.master).toMatchObject({ total: "99.99", difference: "-0.01" });
    expect(missing.ready_to_sign).toBe(false);
    const double = JSON.parse(
      (await check("table,name,share\ncomposition,A,100\ncomposition,B GmbH,100\n")).stdout,
    );
    expect(double.problems[0].problem).toContain("difference of 100.00 to 100.00 %. It is 200 %");
  });

  it("reads UTF-16 and Latin-1, and refuses unusable input in one sentence", async () => {
    const utf16 = Buffer.from(`\ufeff${fixture("registration.csv").toString()}`, "utf16le");
    expect(JSON.parse((await check(utf16)).stdout).tables.composition.total).toBe("100.00");
    const latin1 = Buffer.from("table;name;share\nmaster;Jürgen Groß;100\n", "latin1");
    const { parties } = JSON.parse((await check(latin1)).stdout).tables.master;
    expect(parties[0].name).toBe("Jürgen Groß");
    const refused: [string, string[], string][] = [
      ["", [], "standard input is empty"],
      [",,;\n", [], "standard input is empty"],
      ["a,b\n1,2\n", [], "has no column table, name, share"],
      ["table,name,share,split\n", [], 'more than one column for "share"'],
      ["table,name,share\nmaster,A,99\n", ["--amount", "5", "--currency", "EUR"], "not exactly"],
      ["table,name,share\nmaster,A,100\n", ["--amount", "1e9", "--currency", "EUR"], "1234.56"],
    ];
    for (const [stdin, args, message] of refused) {
      const answer = await check(stdin, "--table", "master", ...args);
      expect(answer.exitCode).toBe(2);
      expect(answer.stderr).toContain(message);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});
