/** What the embedded model says about the tables that are attached to a message. */
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { decideReply } from "@/lib/agent/models/adapters/embedded/decide-reply.ts";

const tools = new Set(["bash", "read"]);

/** Sends a message with one attached file, and answers the model's first call with `result`. */
function send(path: string, request: string, result: object) {
  const attached = `Attached file: ${JSON.stringify(path)} (text/csv), in the sandbox's home`;
  const prompt: LanguageModelV4Prompt = [
    {
      role: "user",
      content: [
        { type: "text", text: attached },
        { type: "text", text: request },
      ],
    },
  ];
  const { calls } = decideReply(prompt, tools);
  const call = { toolCallId: "1", toolName: calls[0]?.tool ?? "" };
  const value = JSON.parse(JSON.stringify(result));
  prompt.push(
    { role: "assistant", content: [{ type: "tool-call", ...call, input: calls[0]?.input }] },
    { role: "tool", content: [{ type: "tool-result", ...call, output: { type: "json", value } }] },
  );
  const text = [...decideReply(prompt, tools).text].join("");
  return { calls: calls.map(({ tool, input }) => [tool, input]), text };
}

describe("an attached table", () => {
  const file = (content: string, totalLines = 3) => ({
    filePath: "t.csv",
    content,
    startLine: 1,
    endLine: totalLines,
    totalLines,
    truncated: false,
  });
  const statement = `Track,Territory,Platform,Streams,Rate,Amount
Paper Lanterns,Sweden,Spotify,184220,0.0038,700.04
Paper Lanterns,Germany,Spotify,98110,0.0038,372.82
Low Tide,Sweden,Spotify,60120,0.0038,228.46
Low Tide,Germany,Spotify,51200,0.0014,71.68
Low Tide,Sweden,Apple Music,22010,0.0071,156.27
"Harbour | Lights",Germany,Apple Music,12400,0.0071,88.04
"Harbour | Lights",Germany,Apple Music,12400,0.0071,88.04
`;

  test("is read, summed by the columns that the message names, and searched for what stands out", () => {
    const request =
      "Check this statement. Sum it by track and territory, and list what looks wrong.";
    const { calls, text } = send("uploads/1/q3.csv", request, file(statement));
    expect(calls).toEqual([["read", { filePath: "uploads/1/q3.csv" }]]);
    expect(text).toContain("I have read `q3.csv`. It has 7 rows and 6 columns");
    expect(text).toContain("| Paper Lanterns | 282,330 | 1,072.86 |");
    expect(text).toContain("| Harbour \\| Lights | 24,800 | 176.08 |");
    expect(text).toContain("| Sweden | 266,350 | 1,084.77 |");
    expect(text).toContain("| Total | 440,460 | 1,705.35 |");
    expect(text).toContain("- Line 8 repeats line 7");
    expect(text).toContain("- Line 5: Rate 0.0014, where 0.0038 is usual for Spotify");
    expect(text).toMatch(/not an AI/);
  });

  test("is analyzed without a request, too; with another one that is followed", () => {
    expect(send("a.csv", "", file(statement)).text).toContain("**By track**");
    const command = "awk '{ sum += $2 } END { print sum }' totals.csv";
    const { calls } = send("totals.csv", `run \`${command}\``, {});
    expect(calls).toEqual([["bash", { command }]]);
  });

  test("may be separated by semicolons, and have gaps, deductions and continental numbers", () => {
    const costs = "Show;City;Cost\n1;Oslo;1.200,50\n2;;-30,00\n3;Oslo;80,00\n";
    const { text } = send("tour.csv", "What stands out?", file(costs));
    expect(text).toContain("| Oslo | 1,280.50 |");
    expect(text).toContain("- Line 3: Cost is negative");
    expect(text).toContain("- City is empty in line 3.");
  });

  test.each(["one line", "", '"broken\na,b\n', "a,b\n", "a;b,c\n\n"])(
    "%j: is shown as it is",
    (content) => {
      const { text } = send("t.csv", "Check it", file(content));
      expect(text).toContain("`t.csv` holds:");
    },
  );

  test("is answered however its columns, its outliers and its name are made", () => {
    const wide = `${"c,".repeat(20_000)}c\n${"a\n".repeat(20_000)}`;
    expect(send("t.csv", "Check it", file(wide)).text).toContain("`t.csv` holds:");
    const rates = Array.from({ length: 20_000 }, (_, index) => `x,${index}\n`);
    const { text } = send("t.csv", "Check it", file(`a,rate\n${rates.join("")}`));
    expect(text).toMatch(/- Line \d+: rate \d+, where 10,000 is usual/);
    // Few characters and many cells, each of which would be looked at for each column of rates.
    const names = Array.from({ length: 50 }, (_, index) => `share ${index},by ${index}`);
    const short = `${names.join(",")}\n${"1,x,".repeat(50)}\n${"1\n".repeat(1_000)}`;
    expect(send("t.csv", "Check it", file(short)).text).toContain("`t.csv` holds:");
    const spaces = `a,b\n1${" ".repeat(40)}€,2\n`;
    expect(send("t.csv", "Check it", file(spaces)).text).not.toContain("a: 1");
    const strange = 'Attached file: "a\\q.csv" (text/csv), in the sandbox\'s home';
    expect(send("t.csv", strange, file(statement)).text).toContain("7 rows");
  });

  test("that is large is analyzed as far as it was read", () => {
    const long = { ...file(statement, 90_000), truncated: true };
    const { text } = send("t.csv", "Check it", long);
    expect(text).toContain("Only its beginning: it has 90,000 lines.");
  });
});
