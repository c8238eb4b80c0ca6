/** The built-in skill `platform-api`: the endpoints that the credential of a run may call, from their contracts. */
import type { Contract } from "@platform/endpoint/contract/contract";
import { curl } from "@platform/endpoint/openapi/curl";
import { inputsOf } from "@platform/endpoint/openapi/describe-inputs";
import type { Operation } from "@platform/endpoint/openapi/operation";
import { examples } from "./examples.ts";
import { operations } from "./registry.ts";

/** A placeholder that needs no quotes, in the place of a shell variable that does. */
const ORIGIN = "https://service.invalid";

/** Returns the files of the skill by path: an index, and one file for each group of endpoints. */
export function describeRunApi(): Record<string, string> {
  const offered = operations.filter(({ contract }) => contract.runCredential !== undefined);
  const inputOf = inputsOf(offered);
  const groups = Object.groupBy(offered, ({ contract }) => contract.tag);
  const files: Record<string, string> = {};
  const index: string[] = [];
  for (const [tag, members = []] of Object.entries(groups)) {
    const path = `references/${tag.toLowerCase().replace(/[^a-z]+/g, "-")}.md`;
    files[path] =
      `# ${tag}\n\n${members.map((member) => describeOperation(member, inputOf(member))).join("\n\n")}\n`;
    index.push(
      `## ${tag} (${path})\n\n${members.map(({ contract }) => `- ${headingOf(contract)}: ${contract.summary}`).join("\n")}`,
    );
  }
  return { "SKILL.md": `${INTRODUCTION}\n\n${index.join("\n\n")}\n`, ...files };
}

const INTRODUCTION = `---
name: platform-api
description: Call this service's own API from the sandbox of a run.
---

# The API of this service

A run has a credential of its own, which acts for the user while the run lasts. It may call the endpoints below, and no other. Each is one curl line:

\`\`\`
curl -sS -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL/api/models"
\`\`\`

- Read the reference of a group before you call one of its endpoints: it has the fields and an example.
- Bodies are JSON: add \`-H "content-type: application/json" -d '{…}'\`.
- An error has a text that says what to correct. Do not repeat a refused request unchanged.
- A list with \`next_cursor\` has another page: pass it as \`cursor\`.
- Never print the credential, and never send it to another host.`;

const headingOf = ({ method, path }: Contract): string => `${method} ${path}`;

function describeOperation(
  { id, contract }: Operation,
  { properties, required }: ReturnType<ReturnType<typeof inputsOf>>,
): string {
  const { summary, description, runCredential } = contract;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const text = JSON.stringify(schema, (key, value: unknown) =>
      key === "description" ? undefined : value,
    );
    const about =
      "description" in Object(schema) ? ` ${Reflect.get(Object(schema), "description")}` : "";
    return `- \`${name}\`${required.includes(name) ? " (required)" : ""}: ${text}${about}`;
  });
  const [example] = Object.values(examples[id] ?? {});
  return [
    `## ${headingOf(contract)}`,
    `${summary}.${description === undefined ? "" : ` ${description}`}`,
    typeof runCredential === "object" ? `A run may call it only ${runCredential.only}.` : "",
    fields.join("\n"),
    example ? `\`\`\`\n${exampleOf(contract, example.request)}\n\`\`\`` : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

function exampleOf(contract: Contract, request: Parameters<typeof curl>[1]): string {
  return curl(contract, request, ORIGIN)
    .replace('-H "$K"', '-H "$AGENT_API_AUTH_HEADER"')
    .replace(/'?https:\/\/service\.invalid([^' ]*)'?/, '"$AGENT_API_URL$1"');
}
