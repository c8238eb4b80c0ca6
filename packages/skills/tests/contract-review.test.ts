import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillScript } from "./skill-shell.ts";

const agreement = readFileSync(
  join(projectRoot, "tests/support/fixtures/skills/contract-review/recording-agreement.txt"),
  "utf8",
);

interface Passage {
  readonly page: number | null;
  readonly line: number;
  readonly clause: string | null;
  readonly quote: string;
  readonly text: string;
  readonly value: string | null;
}

async function find(stdin: string | Uint8Array, ...args: string[]) {
  const { stdout, stderr, exitCode } = await runSkillScript("contract-review", "find_clauses.py", {
    stdin,
    args,
  });
  return { stdout, stderr, exitCode };
}

describe("find_clauses.py", () => {
  it("quotes each clause with page, line and clause number", async () => {
    const { stdout } = await find(agreement, "--file-name", "recording-agreement.pdf");
    const result = JSON.parse(stdout);
    expect(result.file).toBe("recording-agreement.pdf");
    expect(result.pages).toBe(5);
    expect(result.warnings).toEqual([
      "Pages without text, perhaps images: 4. They were not searched.",
    ]);
    const places = (clause: string) =>
      (result.clauses[clause].candidates as Passage[]).map(({ page, line, clause: number }) => [
        page,
        line,
        number,
      ]);
    expect(places("term")).toEqual([
      [1, 3, "1"],
      [1, 4, "1.1"],
    ]);
    expect(places("options")).toEqual([[1, 5, "1.2"]]);
    expect(places("audit")).toEqual([
      [3, 2, "7"],
      [3, 3, "7.1"],
    ]);
    expect(places("governing law and disputes")).toEqual([
      [5, 3, "9"],
      [5, 4, "9.1"],
    ]);
    // "recoup-/able" and "cross-/collateralised" are broken at line ends, the second over two pages.
    const [, recoupment] = result.clauses.recoupment.candidates;
    expect(recoupment).toMatchObject({ page: 2, line: 8, clause: "6.1", quote_ends_on_page: 3 });
    expect(recoupment.quote).toBe(
      "6.1 All advances are recoup-able from royalties under this or any other agreement between the parties and cross-collateralised accordingly.",
    );
    expect(places("cross-collateralization")).toEqual([[2, 9, "6.1"]]);
    expect(result.not_found).toEqual(
      expect.arrayContaining(["key man", "AI use", "sunset", "morals", "reversion and retention"]),
    );
    expect(result.not_found).not.toContain("territory");
  });

  it("extracts every figure, and reports words and digits that differ", async () => {
    const { figures, differences } = JSON.parse((await find(agreement)).stdout);
    const values = (kind: string) =>
      (figures[kind].listed as Passage[]).map(({ page, value }) => [page, value]);
    expect(values("percentages")).toEqual([
      [2, "17.5"],
      [2, "17.5"],
      [2, "18"],
      [2, "12.25"],
    ]);
    expect(figures.amounts.listed).toMatchObject([
      { page: 2, currency: "US$", value: "25000.00" },
      { page: 2, currency: "€", value: "10500.50" },
      { page: 2, currency: "£", value: "1.50", scale: "million" },
    ]);
    expect(figures.dates.listed).toMatchObject([
      { page: 1, value: "2027-03-01" },
      { page: 1, value: null, remark: "day and month are ambiguous" },
      { page: 3, value: "2027-06-30" },
      { page: 3, value: null, remark: "this date does not exist" },
    ]);
    expect(figures.periods.listed).toMatchObject([
      { page: 1, line: 4, value: "4", unit: "years" },
      { page: 3, line: 1, value: "90", unit: "days" },
      { page: 3, line: 3, value: "24", unit: "months" },
    ]);
    expect(differences.map(({ text, clause }: Passage) => [text, clause])).toEqual([
      ["fifteen percent (18%)", "5.1"],
      ["three (4) years", "1.1"],
    ]);
  });

  it("reads German contracts without pages, and other encodings", async () => {
    const german = [
      "§ 1 Rechteeinräumung",
      "Der Künstler räumt weltweit ausschließliche Nutzungsrechte für drei Jahre ein.",
      "§ 2 Vorauszahlung",
      "Verrechenbar sind 5.000,00 EUR bis zum 15.03.2027; die Beteiligung beträgt 60 v. H.",
      "§ 3 Keine Nutzung der Stimme für künstliche Intelligenz. Gerichtsstand ist Köln.",
    ].join("\r\n");
    for (const bytes of [
      Buffer.from(`\ufeff${german}`, "utf16le"),
      Buffer.from(german, "latin1"),
    ]) {
      const result = JSON.parse((await find(bytes)).stdout);
      expect(result.warnings[0]).toContain("no page markers");
      expect(result.clauses["AI use"].candidates[0]).toMatchObject({
        page: null,
        line: 5,
        clause: "§ 3",
      });
      expect(result.clauses["grant of rights"].candidates).toEqual([
        {
          found: "Rechteeinräumung",
          page: null,
          line: 1,
          clause: "§ 1",
          quote:
            "§ 1 Rechteeinräumung Der Künstler räumt weltweit ausschließliche Nutzungsrechte für drei Jahre ein.",
        },
      ]);
      expect(result.figures.amounts.listed[0]).toMatchObject({ value: "5000.00", currency: "EUR" });
      expect(result.figures.dates.listed[0].value).toBe("2027-03-15");
      expect(result.figures.percentages.listed[0].value).toBe("60");
      expect(result.figures.periods.listed[0]).toMatchObject({ value: "3", unit: "jahre" });
    }
  });

  it("caps lists and says how much was omitted, and keeps the document's text inert", async () => {
    const long = `--- Page 1 ---\n${"Artist may audit the books once; fee 5%.\n".repeat(3000)}`;
    const result = JSON.parse((await find(long, "--limit", "2")).stdout);
    expect(result.clauses.audit.candidates).toHaveLength(2);
    expect(result.clauses.audit.omitted_matches).toBeGreaterThan(2900);
    expect(result.figures.percentages).toMatchObject({ count: 3000, omitted_matches: 2980 });
    const table = await find(
      "--- Page 1 ---\nThe Term is | <b>five years</b>.\n",
      "--format",
      "markdown",
    );
    expect(table.stdout).toContain("The Term is \\| \\<b\\>five years\\</b\\>.");
  });

  it("refuses input without text in one sentence", async () => {
    const refused: [string | Uint8Array, string[], string][] = [
      ["", [], "has no text"],
      ["--- Page 1 ---\n\n--- Page 2 ---\n", [], "has no text"],
      [Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff]), [], "is not text"],
      ["Term", ["--limit", "0"], "--limit must be"],
    ];
    for (const [stdin, args, message] of refused) {
      const answer = await find(stdin, ...args);
      expect(answer.exitCode).toBe(2);
      expect(answer.stderr).toContain(message);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});
