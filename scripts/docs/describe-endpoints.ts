/** The text of `docs/api.md`: a recorded request and its answer for every operation. */
import { curl } from "@platform/endpoint/openapi/curl";
import type { RecordedExchange, RecordedExchanges } from "@platform/endpoint/openapi/examples";
import { tags } from "../../lib/openapi/document.ts";
import { operations } from "../../lib/openapi/registry.ts";

/** Longer lines are cut: the OpenAPI document has them whole. */
const MAX_LINE_CHARS = 400;
const MAX_FRAMES = 3;
const ORIGIN = "localhost:3000";

const introduction = `# Every endpoint by curl

This file is generated: \`RECORD_EXAMPLES=1 npm test -- tests/api/openapi-examples.test.ts\` asks a
running server and writes down what it answers, and without the switch the same test fails when an
answer has changed. Ids, dates and keys are replaced by stand-ins, and long lines are cut.

\`K\` is the header with an API key:

\`\`\`sh
K='x-api-key: ap_…'
\`\`\`

The whole contract, with every field, error and example, is the OpenAPI 3.1 document at
<http://localhost:3000/api/openapi.json>; <http://localhost:3000/docs> shows it for reading.
`;

/** A section for each tag, with its requests in the order in which they were recorded. */
export function describeEndpoints(examples: Readonly<Record<string, RecordedExchanges>>): string {
  const sections = Object.entries(tags).map(([tag, about]) => {
    const requests = recordedRequests(tag, examples).join("\n\n");
    return `## ${tag}\n\n${about}\n\n\`\`\`sh\n${requests}\n\`\`\`\n`;
  });
  return [introduction, ...sections].join("\n");
}

function recordedRequests(
  tag: string,
  examples: Readonly<Record<string, RecordedExchanges>>,
): string[] {
  return Object.entries(examples).flatMap(([operation, exchanges]) => {
    const contract = operations.find(({ id }) => id === operation)?.contract;
    const plainest = Object.values(exchanges)[0];
    if (contract?.tag !== tag || !plainest) return [];
    return [
      `# ${contract.summary}\n${curl(contract, plainest.request, ORIGIN)}\n${answer(plainest)}`,
    ];
  });
}

function answer({ response: { status, body } }: RecordedExchange): string {
  const isStream = typeof body === "string" && body.includes("\n\n");
  const [first = "", ...rest] = isStream ? firstFrames(body) : textOf(body).split("\n");
  return [`# ${status} ${cut(first)}`.trimEnd(), ...rest.map((line) => `# ${cut(line)}`)].join(
    "\n",
  );
}

function textOf(body: unknown): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}

const firstFrames = (stream: string): string[] => [
  "",
  ...stream.split("\n\n").slice(0, MAX_FRAMES).join("\n").split("\n"),
  "…",
];

const cut = (line: string): string =>
  line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line;
