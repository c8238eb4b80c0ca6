/** Requests by the name of their operation, kept with their answers as examples are published. */

import type { Contract } from "@platform/endpoint/contract/contract";
import { addressOf } from "@platform/endpoint/openapi/curl";
import type { RecordedExchange, RecordedExchanges } from "@platform/endpoint/openapi/examples";
import { z } from "zod";
import { operations } from "../../../lib/openapi/registry.ts";
import type { Row } from "../../security/row.ts";
import { rows } from "../../security/rows.ts";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { nameOf } from "../fixtures/shapes.ts";
import type { Answer, Client, Person } from "./clients.ts";

export type Asked = RecordedExchange["request"];

export interface Context {
  readonly anonymous: Client;
  readonly caller: Client;
  readonly recorder: Recorder;
  /** Calls an operation that succeeds, and returns the body as the schema reads it. */
  record<S extends z.ZodType = z.ZodUnknown>(
    operation: string,
    request?: Asked,
    more?: { schema?: S; shorten?: (body: unknown) => unknown },
  ): Promise<z.output<S>>;
}

export const withId = z.object({ id: z.string() });

export function contractOf(operation: string): Contract {
  const found = operations.find(({ id }) => id === operation);
  if (!found) throw new Error(`There is no operation ${operation}`);
  return found.contract;
}

export class Recorder {
  readonly recorded: Record<string, RecordedExchanges> = {};
  readonly #placeholders: Placeholders;

  constructor(placeholders: Placeholders) {
    this.#placeholders = placeholders;
  }

  /** @param shorten returns the published part of a body that is too long to be read */
  async ask(
    caller: Client,
    operation: string,
    asked: Asked,
    { shorten = (body) => body }: { shorten?: (body: unknown) => unknown } = {},
  ): Promise<Answer> {
    const contract = contractOf(operation);
    const { headers, body } = asked;
    const options = { ...(headers ? { headers } : {}), body };
    const answer = await caller.request(contract.method, addressOf(contract, asked), options);
    this.keep(operation, asked, { ...answer, body: shorten(answer.body) });
    return answer;
  }

  /** Keeps the first success and the first error of an operation. */
  keep(operation: string, asked: Asked, answer: Answer): void {
    const name = answer.headers.get("x-error-code") ?? SUCCESS;
    this.recorded[operation] ??= {};
    const kept = this.recorded[operation];
    if (Object.keys(kept).some((one) => (one === SUCCESS) === (name === SUCCESS))) return;
    const contract = contractOf(operation);
    const { stream: isStream, bytes, schema } = contract.responses[answer.status] ?? {};
    const isText = !bytes || answer.headers.get("content-type")?.startsWith("text/");
    const body = isStream ? framesOf(answer.text) : withShortLists(answer.body, schema);
    const response = {
      status: answer.status,
      headers: headersOf(contract, answer),
      ...(body === "" || !isText ? {} : { body }),
    };
    const path = `${operation} ${name}`;
    kept[name] = {
      request: this.#placeholders.replace(asked, path) as Asked,
      response: this.#placeholders.replace(response, path) as RecordedExchange["response"],
    };
  }
}

const SUCCESS = "success";

/** Returns the body with at most two items of each list, or as it is if its schema asks for more. */
function withShortLists(body: unknown, schema: z.ZodType | undefined): unknown {
  if (body === undefined || !schema) return body;
  const short: unknown = JSON.parse(JSON.stringify(body), (_, value: unknown) =>
    Array.isArray(value) ? value.slice(0, 2) : value,
  );
  return schema.safeParse(short).success ? short : body;
}

function headersOf(contract: Contract, { status, headers }: Answer): Record<string, string> {
  const published = contract.responses[status]?.headers ?? ["x-error-code"];
  const present = published.filter((name) => headers.has(name));
  return Object.fromEntries(present.map((name) => [name, headers.get(name) ?? ""]));
}

/** Without the comment lines, which only keep the connection open. */
const framesOf = (stream: string): string => stream.replaceAll(/^:.*\n\n/gm, "");

/** Records an operation that nothing else calls, as the table of tests/security asks it. */
export async function recordRow({ record, caller }: Context, id: string): Promise<void> {
  const { arrange, query, body } = rows[nameOf(contractOf(id))] as Row;
  const owner = { withKey: caller, withBearer: caller } as Person;
  const params = await arrange(owner, { sessionId: "" });
  await record(id, { params, query: query?.(params) ?? {}, body: body?.(params) });
}
