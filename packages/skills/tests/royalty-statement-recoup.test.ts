import { describe, expect, it } from "vitest";
import { runSkillJson, runSkillRefusal } from "./skill-json.ts";

const recoup = (deal: unknown) =>
  runSkillJson("royalty-statement", "recoup.py", { stdin: JSON.stringify(deal) });

describe("recoupment", () => {
  const entries = [
    { date: "2026-03-31", kind: "income", amount: "10000" },
    { date: "2026-01-10", kind: "advance", amount: "1000" },
    { date: "2026-02-01", kind: "cost", group: "video", amount: "800", recoupable_percent: "50" },
  ];

  it("compounds fees and recoups the opening balance first in a royalty deal", async () => {
    // 10,000 × 0.9 × 0.8 = 7,200; 50 % = 3,600; less 500, 1,000 and half of 800.
    const report = await recoup({
      deal: "royalty",
      currency: "EUR",
      rate: "50",
      fees: ["10", "20"],
      projects: [{ name: "Tidewater", opening_balance: "-500", entries }],
    });
    expect(report.payable).toBe("1700.00");
    const [project] = report.projects;
    expect(project).toMatchObject({ fee_factor: "0.72", earned: "3600.00" });
    expect(project.recoupment.map((line: { group: string }) => line.group)).toEqual([
      "opening balance",
      "advance",
      "video",
    ]);
    expect(project.ledger.map((line: { balance: string }) => line.balance)).toEqual([
      "-1500.00",
      "-1900.00",
      "1700.00",
    ]);
  });

  it("takes costs off the top of a profit share, and the advance from the payee's part", async () => {
    // 7,200 - 500 - 400 = 6,300; 50 % = 3,150; less the advance of 1,000.
    const report = await recoup({
      deal: "profit_share",
      currency: "EUR",
      rate: "50",
      fees: ["10", "20"],
      projects: [{ name: "Tidewater", opening_balance: "-500", entries }],
    });
    expect(report.projects[0]).toMatchObject({ profit: "6300.00", earned: "3150.00" });
    expect(report.payable).toBe("2150.00");
  });

  it("keeps projects apart unless they are cross-collateralized", async () => {
    const deal = {
      deal: "royalty",
      currency: "USD",
      rate: "18",
      order: "costs_first",
      projects: [
        { name: "First", entries: [{ date: "2026-01-01", kind: "income", amount: "1000.05" }] },
        {
          name: "Second",
          entries: [
            { date: "2026-01-01", kind: "advance", amount: "100" },
            { date: "2026-01-02", kind: "cost", amount: "30" },
            { date: "2026-01-03", kind: "income", amount: "250" },
          ],
        },
      ],
    };
    // First: 180.009. Second: 45 - 130 = -85, so the costs are recouped and 85 of the advance is not.
    const separate = await recoup(deal);
    expect(separate).toMatchObject({
      payable: "180.01",
      payable_if_cross_collateralized: "95.01",
    });
    expect(separate.projects[1].recoupment).toEqual([
      { group: "costs", kind: "cost", owed: "30.00", recouped: "30.00", unrecouped: "0.00" },
      { group: "advance", kind: "advance", owed: "100.00", recouped: "15.00", unrecouped: "85.00" },
    ]);
    expect(separate.projects[1].closing_balance).toBe("-85.00");
  });

  it("refuses amounts that JSON would round", async () => {
    const stdin = '{"deal":"royalty","currency":"EUR","rate":1.5,"projects":[{"name":"A"}]}';
    const refusal = await runSkillRefusal("royalty-statement", "recoup.py", { stdin });
    expect(refusal).toMatch(/^rate of A must be a string such as "12\.50"/);
  });
});
