/**
 * fal's queue and storage over plain HTTP. The queue takes a request once, reports its status and returns its
 * result. Failures are values that contain no text from fal.
 */
import { openAsBlob } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { requestJson, type UpstreamQuestion } from "@platform/kit/outbound/fetch-json";
import { accepted, describeAnswer, type Probe, probeJson } from "@platform/kit/outbound/probe";
import { vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { z } from "zod";
import type { MediaFile } from "../../port.ts";

export interface FalAccess {
  readonly key: string;
  readonly baseUrl: string;
  readonly storageUrl: string;
  /** Milliseconds that one request to the queue may take. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds between two status requests. Default: 1,500. */
  readonly pollMs?: number;
}

export type Fault =
  | {
      readonly kind: "refused";
      readonly step: "submit" | "status" | "result";
      readonly status: number;
      /** fal's error types, such as `content_policy_violation`. */
      readonly types: readonly string[];
      /** Whether it is the failure of the request itself, which is answered again each time. */
      readonly isStored: boolean;
      readonly retryAfter: string | null;
    }
  /** The connection failed, or the response was not JSON or had an unexpected shape. */
  | { readonly kind: "broken"; readonly step: string }
  /** The model itself failed. */
  | { readonly kind: "failed" }
  | { readonly kind: "timeout" };

const CANCEL_TIMEOUT_MS = 5_000;
/** Statuses worth a retry. Of the result, 500 is not: it means that the model itself failed. */
const retryable = {
  submit: [],
  status: [429, 500, 502, 503, 504],
  result: [429, 502, 503, 504],
} as const;

/** Where a submitted request is asked for. */
export const queuedRequest = z.object({
  status_url: z.url(),
  response_url: z.url(),
  cancel_url: z.url(),
});
export type QueuedRequest = z.output<typeof queuedRequest>;
const progress = z.object({
  status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]),
  error: z.unknown().optional(),
});
const refusal = z.object({ detail: z.array(z.object({ type: z.string() })) });
const storedFailure = z.object({ error_type: z.string() });
const initiated = z.object({ upload_url: z.url(), file_url: z.url() });

const credentials = ["FAL_KEY"];
const ofStorage = { credentials, address: ["FAL_STORAGE_URL"] };
const ofQueue = { credentials, address: ["FAL_BASE_URL"] };
/** A request that does not exist, of a model that does. */
const NO_REQUEST = "fal-ai/nano-banana-2/requests/00000000-0000-4000-8000-000000000000/status";

/** Returns whether the same request may be answered later. */
export const mayPass = (fault: Fault): boolean =>
  fault.kind === "refused"
    ? retryable[fault.step].some((status) => status === fault.status)
    : fault.kind !== "failed";

export class FalClient {
  readonly #access: FalAccess;
  readonly #headers: { readonly authorization: string };

  constructor(access: FalAccess) {
    this.#access = access;
    this.#headers = { authorization: `Key ${access.key}` };
  }

  /** Never retried: a second submission is generated and billed again. */
  async submit(
    model: string,
    input: object,
  ): Promise<{ readonly kind: "submitted"; readonly request: QueuedRequest } | Fault> {
    const answer = await this.#ask("submit", this.#queueUrl(model), input);
    if (answer.kind !== "json") return answer;
    const request = queuedRequest.safeParse(answer.body).data;
    const { origin } = new URL(this.#access.baseUrl);
    // The key is sent to these URLs.
    if (!request || Object.values(request).some((text) => new URL(text).origin !== origin)) {
      return { kind: "broken", step: "submit" };
    }
    return { kind: "submitted", request };
  }

  /** Asks for the result until `patience` aborts, but at least once. */
  async awaitResult(
    request: QueuedRequest,
    patience: AbortSignal,
  ): Promise<{ kind: "done"; output: unknown } | { kind: "pending" } | Fault> {
    for (;;) {
      const answer = await this.#ask("status", request.status_url);
      if (answer.kind !== "json") return answer;
      const state = progress.safeParse(answer.body).data;
      if (!state) return { kind: "broken", step: "status" };
      if (state.status === "COMPLETED") break;
      if (patience.aborted) return { kind: "pending" };
      await delay(this.#access.pollMs ?? 1_500, undefined, { signal: patience }).catch(() => {});
    }
    const answer = await this.#ask("result", request.response_url);
    if (answer.kind === "json") return { kind: "done", output: answer.body };
    const isFailure = answer.kind === "refused" && (answer.status === 500 || answer.isStored);
    return isFailure ? { kind: "failed" } : answer;
  }

  /** Cancels on a best-effort basis: the result is no longer needed. */
  async cancel(request: QueuedRequest): Promise<void> {
    await vendorFetch("fal", request.cancel_url, {
      method: "PUT",
      headers: this.#headers,
      redirect: "manual",
      signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS),
    })
      .then((response) => response.body?.cancel())
      .catch(() => {});
  }

  /** Stores an input that fal cannot fetch by its own URL. Returns fal's URL; null when the upload failed. */
  async upload({ path, contentType }: MediaFile, signal: AbortSignal): Promise<string | null> {
    try {
      const { url, question } = this.#initiateUpload(contentType, signal);
      const asked = await requestJson(url, question);
      if (asked.kind !== "json") return null;
      const { upload_url, file_url } = initiated.parse(asked.body);
      // The URL is signed, so the key is not sent.
      const written = await vendorFetch("fal", upload_url, {
        method: "PUT",
        headers: { "content-type": contentType },
        body: await openAsBlob(path),
        redirect: "manual",
        signal,
      });
      await written.body?.cancel();
      return written.ok ? file_url : null;
    } catch {
      return null;
    }
  }

  /** Asks for an upload URL that stays unused, and for a request that does not exist. Both are free. */
  async check(deadline: AbortSignal): Promise<Probe[]> {
    const { url, question } = this.#initiateUpload("image/png", deadline);
    return Promise.all([probeJson(url, question, ofStorage), this.#checkQueue(deadline)]);
  }

  async #checkQueue(deadline: AbortSignal): Promise<Probe> {
    const url = this.#queueUrl(NO_REQUEST);
    const answer = await requestJson(url, { vendor: "fal", headers: this.#headers, deadline });
    const isExpected =
      answer.kind === "refused" &&
      [400, 404, 422].includes(answer.status) &&
      z.object({ detail: z.unknown() }).safeParse(answer.body).success;
    return isExpected ? accepted(url, ofQueue) : describeAnswer(url, answer, ofQueue);
  }

  #queueUrl(path: string): URL {
    return new URL(`${this.#access.baseUrl.replace(/\/+$/, "")}/${path}`);
  }

  /** Returns the request for a signed upload URL. */
  #initiateUpload(contentType: string, deadline: AbortSignal) {
    const url = new URL(
      "/storage/upload/initiate?storage_type=fal-cdn-v3",
      this.#access.storageUrl,
    );
    const body = {
      content_type: contentType,
      file_name: `input.${contentType.replace(/^.*\//, "")}`,
    };
    const question: UpstreamQuestion = { vendor: "fal", headers: this.#headers, body, deadline };
    return { url, question };
  }

  async #ask(
    step: "submit" | "status" | "result",
    url: URL | string,
    body?: object,
  ): Promise<{ readonly kind: "json"; readonly body: unknown } | Fault> {
    const deadline = AbortSignal.timeout(this.#access.requestTimeoutMs ?? 30_000);
    const question = { vendor: "fal", headers: this.#headers, body, deadline } as const;
    const answer = await requestJson(url, question);
    if (answer.kind === "refused") {
      const { status, retryAfter } = answer;
      const types = refusal.safeParse(answer.body).data?.detail.map(({ type }) => type) ?? [];
      const isStored = status >= 500 && storedFailure.safeParse(answer.body).success;
      return { kind: "refused", step, status, types, isStored, retryAfter };
    }
    if (answer.kind === "json") return answer;
    return answer.kind === "timeout" ? { kind: "timeout" } : { kind: "broken", step };
  }
}
