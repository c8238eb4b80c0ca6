/** Examples as lines for a shell, in the README's way: the key in `$K`, the server on localhost:3000. */
import type { Contract } from "../../../lib/contract/contract.ts";
import { tags } from "../../../lib/openapi/document.ts";
import type { Exchange, Exchanges } from "../../../lib/openapi/examples.ts";
import { addressOf, contractOf } from "./exchanges.ts";

/** Longer lines are cut: the OpenAPI document has them whole. */
const MOST_CHARACTERS = 400;
const MOST_FRAMES = 3;

/** The README's part on all endpoints: a fold for each tag, its requests in the order of the examples. */
export function everyEndpointByCurl(examples: Readonly<Record<string, Exchanges>>): string {
  return Object.entries(tags)
    .map(([tag, about]) => fold(`<b>${tag}</b>: ${about}`, askedAbout(tag, examples)))
    .join("\n\n");
}

const fold = (summary: string, requests: readonly string[]): string =>
  `<details><summary>${summary}</summary>\n\n\`\`\`sh\n${requests.join("\n\n")}\n\`\`\`\n\n</details>`;

function askedAbout(tag: string, examples: Readonly<Record<string, Exchanges>>): string[] {
  return Object.entries(examples).flatMap(([operation, exchanges]) => {
    const contract = contractOf(operation);
    const plainest = Object.values(exchanges)[0];
    if (contract.tag !== tag || !plainest) return [];
    return [`# ${contract.summary}\n${curl(contract, plainest)}\n${answer(plainest)}`];
  });
}

function curl(contract: Contract, { request }: Exchange): string {
  const { headers = {}, body } = request;
  const isStream = Object.values(contract.responses).some(({ stream }) => stream);
  const isBytes = Object.values(contract.responses).some(({ bytes }) => bytes);
  const implied = body === undefined ? "GET" : "POST";
  return [
    "curl",
    ...(isStream ? ["-N"] : []),
    ...(isBytes && contract.auth === "none" ? ["-O"] : []),
    ...(contract.method === implied ? [] : [`-X ${contract.method}`]),
    quoted(`localhost:3000${addressOf(contract, request)}`),
    ...(contract.auth === "required" ? ['-H "$K"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
  ].join(" ");
}

const quoted = (text: string): string =>
  /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function answer({ response: { status, body } }: Exchange): string {
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
  ...stream.split("\n\n").slice(0, MOST_FRAMES).join("\n").split("\n"),
  "…",
];

const cut = (line: string): string =>
  line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
