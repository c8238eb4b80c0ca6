/** The dashboard, the alerts and their document use the names in the code. */
import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { metrics } from "@platform/kit/telemetry/metrics";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { projectRoot } from "../../scripts/project-root.ts";

const read = (file: string) => readFile(join(projectRoot, "docs", file), "utf8");
const alerts = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
});

const SUFFIXES: Record<string, string> = { s: "_seconds", By: "_bytes", "1": "_ratio" };

/** The names that Prometheus gets of a metric, by the rules of OpenTelemetry's compatibility with it. */
function prometheusNames([name, { kind, unit }]: [string, { kind: string; unit: string }]) {
  const base = name.replaceAll(".", "_") + (SUFFIXES[unit] ?? "");
  if (kind === "counter") return [`${base}_total`];
  return kind === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => base + end) : [base];
}

const known = new Set(Object.entries(metrics).flatMap(prometheusNames));
/** The identifiers in front of labels or a range, or in parentheses, without functions and labels. */
const metricsIn = (expression: string): string[] =>
  expression.replaceAll(/by \([^)]*\)/g, "").match(/\b[a-z]\w*_\w+\b(?!\s*(?:\(|=|!|~))/g) ?? [];

describe("the names of metrics", () => {
  it("in the alerts exist", async () => {
    const { groups } = alerts.parse(parse(await read("operations/alerts.yaml")));
    const named = groups.flatMap(({ rules }) => rules).flatMap(({ expr }) => metricsIn(expr));
    expect(named.length).toBeGreaterThan(9);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it("in the dashboard exist, and every metric is in it", async () => {
    const { panels } = dashboard.parse(JSON.parse(await read("operations/dashboard.json")));
    const named = panels.flatMap(({ targets }) => targets).flatMap(({ expr }) => metricsIn(expr));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const unused = Object.entries(metrics).filter(
      (metric) => !prometheusNames(metric).some((name) => named.includes(name)),
    );
    expect(unused.map(([name]) => name)).toEqual([]);
  });

  it("are all emitted by the code", () => {
    const files = globSync("{lib,packages/*/src}/**/*.ts", { cwd: projectRoot });
    const code = files
      .filter((file) => !file.endsWith("telemetry/metrics.ts"))
      .map((file) => readFileSync(join(projectRoot, file), "utf8"))
      .join("\n");
    // The engine's package does not know the prefix, and `observePool` is in the file of the names.
    const isEmitted = (name: string) =>
      [name, name.replace("agent_platform.", "")].some((one) =>
        new RegExp(`\\b(?:count|record|observe|startTimer)\\(\\s*"${one}"`).test(code),
      ) || name.startsWith("db.client.connection.");
    expect(Object.keys(metrics).filter((name) => !isEmitted(name))).toEqual([]);
  });

  it("are all in docs/operations.md, which names no other", async () => {
    const document = await read("operations.md");
    // Of several in one row, the later ones are given by their ends.
    const isListed = (name: string) =>
      document.includes(`\`${name}\``) || document.includes(`\`.${name.split(".").at(-1)}\``);
    expect(Object.keys(metrics).filter((name) => !isListed(name))).toEqual([]);
    const rows = document.slice(document.indexOf("## Metrics"), document.indexOf("## Alerts"));
    const listed = [...rows.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) => {
      const [first = "", ...more] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      const stem = first.replace(/\.\w+$/, "");
      return [first, ...more.map((name) => (name.startsWith(".") ? stem + name : name))];
    });
    expect(listed.toSorted()).toEqual(Object.keys(metrics).toSorted());
  });
});

it("says of every alert what to do, and of no other one", async () => {
  const { groups } = alerts.parse(parse(await read("operations/alerts.yaml")));
  const named = groups.flatMap(({ rules }) => rules).map(({ alert }) => alert);
  const document = await read("operations.md");
  const described = [...document.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(described).toEqual(named);
});
