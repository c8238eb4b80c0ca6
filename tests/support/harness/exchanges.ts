/** Requests by the name of their operation, kept with their answers as examples are published. */
import type { Contract } from "../../../lib/contract/contract.ts";
import { addressOf } from "../../../lib/openapi/curl.ts";
import type { Exchange, Exchanges } from "../../../lib/openapi/examples.ts";
import { operations } from "../../../lib/openapi/registry.ts";
import type { Placeholders } from "../fixtures/placeholders.ts";
import type { Answer, Client } from "./clients.ts";

export type Asked = Exchange["request"];

export function contractOf(operation: string): Contract {
  const found = operations.find(({ id }) => id === operation);
  if (!found) throw new Error(`There is no operation ${operation}`);
  return found.contract;
}

interface Options {
  readonly caller: Client;
  /** What is special about it. */
  readonly name?: string;
  /** What is published of a body that is too long to be read. */
  readonly shorten?: (body: unknown) => unknown;
}

export class Recorder {
  readonly recorded: Record<string, Exchanges> = {};
  readonly #placeholders: Placeholders;

  constructor(placeholders: Placeholders) {
    this.#placeholders = placeholders;
  }

  async ask(operation: string, asked: Asked, options: Options): Promise<Answer> {
    const contract = contractOf(operation);
    const { caller, shorten = (body) => body } = options;
    const answer = await caller.request(contract.method, addressOf(contract, asked), {
      ...(asked.headers ? { headers: asked.headers } : {}),
      ...("body" in asked ? { body: asked.body } : {}),
    });
    this.keep(operation, asked, { ...answer, body: shorten(answer.body) }, options.name);
    return answer;
  }

  /** The first of a name stays. */
  keep(operation: string, asked: Asked, answer: Answer, name = nameFor(answer)): void {
    const contract = contractOf(operation);
    const { stream: isStream, bytes } = contract.responses[answer.status] ?? {};
    const isText = !bytes || answer.headers.get("content-type")?.startsWith("text/");
    const exchange = {
      request: asked,
      response: {
        status: answer.status,
        headers: headersOf(contract, answer),
        ...(answer.body === "" || !isText
          ? {}
          : { body: isStream ? framesOf(answer.text) : answer.body }),
      },
    };
    const place = `${operation} ${name}`;
    this.recorded[operation] ??= {};
    this.recorded[operation][name] ??= {
      request: this.#placeholders.replace(exchange.request, place) as Asked,
      response: this.#placeholders.replace(exchange.response, place) as Exchange["response"],
    };
  }
}

const nameFor = ({ headers }: Answer): string => headers.get("x-error-code") ?? "success";

function headersOf(contract: Contract, { status, headers }: Answer): Record<string, string> {
  const published = contract.responses[status]?.headers ?? ["x-error-code"];
  return Object.fromEntries(
    published.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Without the comment lines, which only keep the connection open. */
const framesOf = (stream: string): string => stream.replaceAll(/^:.*\n\n/gm, "");
