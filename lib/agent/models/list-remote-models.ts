/** Model lists of services, asked at most once a minute and never for longer than a few seconds. */
import { createGateway } from "@ai-sdk/gateway";
import { z } from "zod";
import type { Config } from "../../platform/config.ts";
import { readJson } from "../../upstream/read-text.ts";
import { boundFetch } from "./bound-fetch.ts";
import type { ModelInfo } from "./resolve.ts";

const DEADLINE_MS = 5_000;
const FRESH_MS = 60_000;

const serverList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** Waiting callers share one request; a failure is not remembered. */
function remembering<T>(): (key: string, ask: () => Promise<T | null>) => Promise<T | null> {
  const known = new Map<string, { readonly at: number; readonly value: Promise<T | null> }>();
  return (key, ask) => {
    const fresh = known.get(key);
    if (fresh && Date.now() - fresh.at < FRESH_MS) return fresh.value;
    const value = ask().catch(() => null);
    known.set(key, { at: Date.now(), value });
    void value.then((answer) => {
      if (answer === null) known.delete(key);
    });
    return value;
  };
}

const rememberIds = remembering<readonly string[]>();
const rememberModels = remembering<readonly ModelInfo[]>();

/** Ids in the server's order, or null when it does not answer with a list. */
export function listServerModels(
  settings: Pick<Config, "OPENAI_BASE_URL" | "OPENAI_API_KEY">,
): Promise<readonly string[] | null> {
  const base = settings.OPENAI_BASE_URL?.replace(/\/+$/, "");
  return rememberIds(`${base}`, async () => {
    const response = await fetch(`${base}/models`, {
      headers: settings.OPENAI_API_KEY
        ? { authorization: `Bearer ${settings.OPENAI_API_KEY}` }
        : {},
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    return serverList.parse(await readJson(response)).data.map((model) => model.id);
  });
}

/** Language models of the gateway, or null when it does not answer. */
export function listGatewayModels(apiKey: string): Promise<readonly ModelInfo[] | null> {
  return rememberModels(apiKey, async () => {
    const { models } = await createGateway({
      apiKey,
      fetch: (input, init) =>
        boundFetch(input, { ...init, signal: AbortSignal.timeout(DEADLINE_MS) }),
    }).getAvailableModels();
    return models
      .filter((model) => (model.modelType ?? "language") === "language")
      .map(({ id, name }) => ({ id, name, provider: "gateway" }));
  });
}
