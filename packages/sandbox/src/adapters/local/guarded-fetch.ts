/**
 * The network of the sandbox: `curl` reaches the service's own API, and the hosts of the allowlist
 * at public addresses. Every redirect is checked like a new request, and the address that is
 * checked is the one that is connected to, so neither a redirect nor DNS can lead elsewhere.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { SecureFetch } from "just-bash";
import { admitRequest, denied, type NetworkRules } from "../network-rules.ts";

const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;
const DEFAULT_TIMEOUT_MS = 30_000;

type Answer = Awaited<ReturnType<SecureFetch>>;
type Options = NonNullable<Parameters<SecureFetch>[1]>;

export function createGuardedFetch(rules: NetworkRules): SecureFetch {
  return async (address, options = {}) => {
    const signal = AbortSignal.any([
      AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      ...(options.signal ? [options.signal] : []),
    ]);
    const headers = new Headers(options.headers);
    let method = (options.method ?? "GET").toUpperCase();
    let body = options.body;
    let url = new URL(address);
    const follow = options.followRedirects ?? true;
    const maxHops = Math.min(options.maxRedirects ?? MAX_REDIRECTS, MAX_REDIRECTS);
    for (let hop = 0; hop <= maxHops; hop++) {
      const answer = await send(url, { method, headers, body, signal });
      const location = answer.headers.location;
      if (!follow || !location || ![301, 302, 303, 307, 308].includes(answer.status)) return answer;
      const next = new URL(location, url);
      if (next.origin !== url.origin) {
        for (const secret of ["authorization", "cookie", "x-api-key"]) headers.delete(secret);
      }
      if (answer.status === 303 || (answer.status < 303 && method === "POST")) {
        method = "GET";
        body = undefined;
        headers.delete("content-type");
      }
      url = next;
    }
    throw new Error(`Too many redirects: ${address}`);
  };

  async function send(
    url: URL,
    { method, headers, body, signal }: Options & { headers: Headers },
  ): Promise<Answer> {
    const admitted = admitRequest(url, headers, rules);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw denied(url, "not http");
    const { request } = url.protocol === "https:" ? https : http;
    return new Promise<Answer>((resolve, reject) => {
      const outgoing = request(
        url,
        {
          method: method ?? "GET",
          headers: Object.fromEntries(admitted.headers),
          ...(signal ? { signal } : {}),
          ...admitted.lookup,
          agent: false,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          let size = 0;
          incoming.on("data", (chunk: Buffer) => {
            size += chunk.byteLength;
            chunks.push(chunk);
            if (size > MAX_RESPONSE_BYTES) {
              outgoing.destroy(new Error(`Response is larger than ${MAX_RESPONSE_BYTES} bytes`));
            }
          });
          incoming.on("error", reject);
          incoming.on("end", () =>
            resolve({
              status: incoming.statusCode ?? 0,
              statusText: incoming.statusMessage ?? "",
              headers: Object.fromEntries(
                Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
              ),
              body: Buffer.concat(chunks),
              url: url.href,
            }),
          );
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}
