import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { runSkillScript } from "./skill-shell.ts";

const fixture = (name: string) =>
  readFileSync(join(projectRoot, "tests/support/fixtures/skills/tour-budget", name));
const plan = JSON.parse(fixture("plan.json").toString());

function budget(
  stdin: string | Uint8Array,
  tourPlan: object | string = plan,
  ...args: readonly string[]
) {
  return runSkillScript("tour-budget", "budget_tour.py", {
    stdin,
    args: ["--plan", "plan.json", ...args],
    files: { "plan.json": typeof tourPlan === "string" ? tourPlan : JSON.stringify(tourPlan) },
  });
}

describe("budget_tour.py", () => {
  it("calculates every kind of deal, and the total at the given rate", async () => {
    const result = JSON.parse((await budget(fixture("shows.csv"))).stdout);
    expect(result).toMatchObject({ complete: true, problems: [], missing_rates: [] });
    const rows = result.shows.map(
      (show: { commissions: { agent: string; manager: string } } & Record<string, string>) => [
        show.fee,
        show.withholding_tax,
        show.commissions.agent,
        show.commissions.manager,
        show.result,
      ],
    );
    expect(rows).toEqual([
      // 15 % of 2,500 - 500 - 250.
      ["2500.00", "500.00", "250.00", "262.50", "1187.50"],
      // 85 % of 12,000 - 2,000 - 4,500 beats 3,000. The manager's 490.875 is rounded to even.
      ["4675.00", "935.00", "467.50", "490.88", "2331.62"],
      // 70 % of 1,250 is 875, so the guarantee. 400 per person is above 250. 222.525 is rounded to even.
      ["2000.00", "316.50", "200.00", "222.52", "1060.48"],
      // 80 % of 1,232.24 is 985.792: 197.16 per person, so no tax.
      ["985.79", "0.00", "98.58", "133.08", "574.13"],
      // 1,500 + 50 % of 6,000 - 545.45 - 2,000 - 1,500 = 2,477.275.
      ["2477.28", "0.00", "247.73", "334.43", "1675.12"],
      // 60 % of 818.18 beats 400.
      ["490.91", "0.00", "49.09", "66.27", "285.55"],
    ]);
    // 2,000 / 0.7 + 350 + 3,400, and 3,000 / 0.85 + 2,000 + 4,500.
    expect(result.shows[2].percentage_wins_above_gross).toBe("6607.14");
    expect(result.shows[1].percentage_wins_above_gross).toBe("10029.41");
    expect(result.by_currency.GBP).toMatchObject({ fees: "7175.00", result: "3109.12" });
    expect(result.by_currency.EUR).toMatchObject({
      fees: "5953.98",
      tour_costs: "3375.00",
      result: "220.28",
    });
    // 7,175 x 1.1712 + 5,953.98, less 1,997.17, 3,074.39, 1,568.90 and 3,855.19.
    expect(result.total).toEqual({
      fees: "14357.34",
      withholding_tax: "1997.17",
      commissions: "3074.39",
      show_costs: "1568.90",
      tour_costs: "3855.19",
      commissions_on_result: "0.00",
      result: "3861.69",
    });
    // Of a British fee 59.5 % is left, of the others 76.5 % (below 62.5 % Cologne is exempt too):
    // 0.595 x 8,403.36 + 0.765 x 5,953.98 = 9,554.79; the costs are 5,424.09, which is 56.768 %.
    expect(result.break_even.percent_of_planned_fees).toBe("56.77");
    expect(result.formulas.manager).toBe("15 % of the fee less withholding tax, after agent");
  });

  it("takes commissions from the result of the tour, one after the other", async () => {
    const shows =
      "date,country,currency,deal,guarantee,costs\n2027-05-01,AT,EUR,guarantee,1000,100\n";
    const commissions = [
      { name: "label", rate: "10", base: "net_result" },
      { name: "manager", rate: 20, base: "net_result", after: ["label"] },
    ];
    const simple = { currency: "EUR", withholding: { AT: { rate: 0 } }, commissions };
    const profit = JSON.parse((await budget(shows, simple)).stdout);
    // 900: 10 % is 90, 20 % of 810 is 162; 72 % are left.
    expect(profit.commissions_on_result).toEqual({ label: "90.00", manager: "162.00" });
    expect(profit.total.result).toBe("648.00");
    expect(profit.break_even.percent_of_planned_fees).toBe("10");
    const costs = [{ name: "Bus", amount: "2,000", currency: "EUR" }];
    const loss = JSON.parse((await budget(shows, { ...simple, tour_costs: costs })).stdout);
    expect(loss.total).toMatchObject({ commissions_on_result: "0.00", result: "-1100.00" });
    expect(loss.break_even.percent_of_planned_fees).toBe("210");
  });

  it("never sums currencies without a rate", async () => {
    const { stdout } = await budget(fixture("shows.csv"), { ...plan, rates: {} });
    expect(JSON.parse(stdout)).toMatchObject({
      complete: false,
      missing_rates: ["GBP"],
      total: null,
      break_even: null,
    });
    const table = await budget(
      fixture("shows.csv"),
      { ...plan, rates: {} },
      ...["--format", "markdown"],
    );
    expect(table.stdout).toContain("- No total: there is no rate for GBP.");
    expect(table.stdout).toContain(
      "| 3 | 2027-05-03 | London | GB | versus | GBP | 4675.00 | 935.00 | 958.38 | 450.00 | 2331.62 |",
    );
  });

  it("lists shows that cannot be calculated, with the reason", async () => {
    const result = JSON.parse((await budget(fixture("hostile.csv"))).stdout);
    expect(result.complete).toBe(false);
    const problems: { row: number; problem: string }[] = result.problems;
    expect(problems.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    const reasons = [
      'the date "2027-02-30"',
      '"-500" is negative',
      '"(500,00)" is negative',
      "is a spreadsheet formula",
      '"9e99" is not an amount',
      '"5.000" is ambiguous; write 5000.00 or 5.00',
      "a versus deal needs percentage, gross",
      'the percentage "185"',
      'no withholding tax is given for "FR"',
      "is not a currency of three letters",
      'the deal "lottery" is unknown',
      "the sales tax is higher than the gross",
      '"€500" is not an amount',
    ];
    for (const [index, reason] of reasons.entries()) {
      expect(problems[index]?.problem).toContain(reason);
    }
    // A door deal whose expenses exceed the receipts pays nothing, and its costs remain.
    expect(result.shows).toMatchObject([
      { row: 15, net_receipts: "-407.00", fee: "0.00", result: "-60.00" },
    ]);
  });

  it("asks for the base of a commission, and refuses unusable input in one sentence", async () => {
    const shows = "date,country,currency,deal,guarantee\n2027-05-01,AT,EUR,guarantee,1000\n";
    const utf16 = Buffer.from(`\ufeff${shows.replaceAll(",", ";")}`, "utf16le");
    expect(JSON.parse((await budget(utf16)).stdout).shows[0].fee).toBe("1000.00");
    const manager = { name: "manager", rate: "20" };
    const refused: [string, object | string, string][] = [
      [shows, { ...plan, commissions: [manager] }, '"manager" has no base: ask which one'],
      [shows, { ...plan, commissions: [{ ...manager, base: "fees", after: ["x"] }] }, "before it"],
      [shows, { ...plan, rates: { USD: "-1" } }, 'the rate of USD "-1"'],
      [shows, { ...plan, currency: "euro" }, "not a currency of three letters"],
      [shows, { ...plan, tour_costs: [{ name: "Van", currency: "EUR", amount: -5 }] }, "negative"],
      [shows, '{"currency": NaN}', "plan.json is not JSON"],
      ["", plan, "standard input is empty"],
      ["date,country\n", plan, "has no column currency, deal"],
      [`${shows.trim()}\n`.replace("guarantee\n", "fee\n"), plan, "unknown columns fee"],
    ];
    for (const [stdin, tourPlan, message] of refused) {
      const answer = await budget(stdin, tourPlan);
      expect(answer.exitCode).toBe(2);
      expect(answer.stderr).toContain(message);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});
