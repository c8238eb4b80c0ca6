import { APPROVAL_CATEGORIES } from "@platform/endpoint/contract/approvals";
import { contracts } from "../../lib/openapi/registry.ts";

const START = "<!-- Written by npm run check. -->\n";
const END = "<!-- The end of what npm run check writes. -->";

/** Returns the guide to approvals with the table of the operations that have effects, from the contracts. */
export function withEffects(guide: string): string {
  const start = guide.indexOf(START);
  const end = guide.indexOf(END, start);
  if (start < 0 || end < 0) throw new Error("The guide to approvals has no place for the table");
  const ofRuns = contracts.filter(({ runCredential }) => runCredential !== undefined);
  const named = ({ method, path }: (typeof contracts)[number]) => `\`${method} ${path}\``;
  const rows = APPROVAL_CATEGORIES.flatMap((category) => {
    const operations = ofRuns.filter(({ effect }) => effect === category).map(named);
    const withUrls = ofRuns.flatMap((contract) =>
      contract.urls
        ? [`${named(contract)} with ${contract.urls.map((one) => `\`${one}\``).join(", ")}`]
        : [],
    );
    const all = category === "fetch" ? withUrls : operations;
    return all.length > 0 ? [`| \`${category}\` | ${all.join(", ")} |`] : [];
  });
  const table = ["| Kind | Operations |", "| --- | --- |", ...rows].join("\n");
  return `${guide.slice(0, start)}${START}\n${table}\n\n${guide.slice(end)}`;
}
