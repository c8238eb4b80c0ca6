/** The requests to Composio's HTTP API (v3.1). */

import { requestJson } from "@platform/kit/outbound/fetch-json";
import { probeJson } from "@platform/kit/outbound/probe";
import type { z } from "zod";
import type { ConnectorFault } from "../../port.ts";
import { fault, faultOf, page } from "./answers.ts";

/** Bounds how many pages of a list are read for one account. */
const MAX_PAGES = 10;

type Answer<S extends z.ZodType> =
  | { readonly kind: "answer"; readonly value: z.output<S> }
  | ConnectorFault;

export class ComposioApi {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #baseUrl: string;

  constructor({ apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl: string }) {
    this.#headers = { "x-api-key": apiKey };
    this.#baseUrl = baseUrl;
  }

  async ask<S extends z.ZodType>(
    schema: S,
    path: string,
    deadline: AbortSignal,
    body?: object,
    method?: "DELETE",
  ): Promise<Answer<S>> {
    const url = new URL(`/api/v3.1${path}`, this.#baseUrl);
    const headers = this.#headers;
    const answer = await requestJson(url, { vendor: "composio", headers, body, method, deadline });
    if (answer.kind === "refused") return faultOf(path, answer);
    if (answer.kind !== "json") {
      const kind = answer.kind === "timeout" ? "timeout" : "unavailable";
      return fault(kind, `${path}: ${answer.cause}`);
    }
    const { success, data, error } = schema.safeParse(answer.body);
    return success ? { kind: "answer", value: data } : fault("unavailable", `${path}: ${error}`);
  }

  /** Returns the items of a list, of all users where it ignores or refuses `user_ids`, or the fault of a page. */
  async readPages(
    path: string,
    filter: Readonly<Record<string, string>>,
    deadline: AbortSignal,
  ): Promise<unknown[] | ConnectorFault> {
    const items: unknown[] = [];
    const query = new URLSearchParams(filter);
    for (let pageNumber = 1; pageNumber <= MAX_PAGES; pageNumber++) {
      const answer = await this.ask(page, `${path}?${query}`, deadline);
      if (answer.kind !== "answer") {
        const { user_ids, ...others } = filter;
        const mayBeOfUser = user_ids !== undefined && [400, 422].includes(answer.status ?? 0);
        return mayBeOfUser ? this.readPages(path, others, deadline) : answer;
      }
      items.push(...answer.value.items);
      if (!answer.value.next_cursor) break;
      query.set("cursor", answer.value.next_cursor);
    }
    return items;
  }

  async check(deadline: AbortSignal) {
    const url = new URL("/api/v3.1/connected_accounts?limit=1", this.#baseUrl);
    const question = { vendor: "composio", headers: this.#headers, deadline } as const;
    return [await probeJson(url, question, access)];
  }
}

const access = { credentials: ["COMPOSIO_API_KEY"], address: ["COMPOSIO_BASE_URL"] };
