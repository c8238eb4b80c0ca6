/**
 * Uses each vendor of an installation once, as a server does: a tool loop of the model, a command in a sandbox, a list of
 * each other one. It may cost a vendor's money, and is for `doctor --deep` alone.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { describeFailure } from "../agent/describe-failure.ts";
import type { App } from "../app.ts";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { log } from "../platform/log.ts";
import { type Check, finish } from "./diagnose.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

const MODEL_REMEDY = "Set DEFAULT_MODEL to a model that calls tools, or correct its server.";
const LIST_REMEDY = "Try the same request with the vendor's own tools, or ask the vendor.";

/** Returns a finding for each configured vendor; embedded adapters are left out. */
export async function exerciseVendors(app: App, timeoutMs: number): Promise<Finding[]> {
  const { connectors, catalog, research, search, tasks } = app;
  const deadline = AbortSignal.timeout(timeoutMs);
  const query = { q: "velvet", kinds: ["artist"] as const, market: null, limit: 1, offset: 0 };
  const question = { query: "music industry news", domains: [], since: null };
  const page = { connector: "gmail", limit: 1, cursor: undefined };
  const lists: Record<string, readonly [{ readonly name: string } | null, () => List]> = {
    connectors: [connectors, async () => connectors?.listActions(page)],
    catalog: [
      catalog,
      async () => {
        const found = await catalog.search(query);
        return isAppError(found) ? found : found.artists;
      },
    ],
    research: [research, () => research.listTracks({ name: "Daft Punk" })],
    search: [search, () => search.search(question, deadline)],
    taskRunner: [tasks, () => tasks.list({ accountId: randomUUID(), limit: 1 }, log())],
  };
  const checks = Object.entries(lists).flatMap(([name, [adapter, list]]): [string, Check][] =>
    adapter === null || adapter.name === "embedded"
      ? []
      : [[`${name} list`, async () => [describeList(`${name} list`, await list())]]],
  );
  if (app.models.name !== "embedded") {
    checks.unshift(["model tools", async () => [await loopOnce(app, deadline)]]);
  }
  checks.push(["sandbox command", async () => [await runOnce(app)]]);
  return (await Promise.all(checks.map(([name, check]) => finish(name, check, deadline)))).flat();
}

type List = Promise<object | undefined>;

/** Describes the answer of any port: a list, an object with one, or a failure, whose texts are the service's own. */
function describeList(check: string, answer: object | AppError | undefined): Finding {
  if (isAppError(answer)) return failed(check, `fails: ${answer.message}`, LIST_REMEDY);
  const fields: Readonly<Record<string, unknown>> = { ...answer };
  if ("cause" in fields || "failure" in fields) {
    const status = typeof fields.status === "number" ? ` with status ${fields.status}` : "";
    return failed(check, `fails${status}`, LIST_REMEDY);
  }
  const items = [answer, ...Object.values(fields)].find(Array.isArray) ?? [];
  if (items.length > 0 || check === "taskRunner list") return ok(check, "answers as expected");
  return warning(check, "answers with an empty list, where something was expected", LIST_REMEDY);
}

/** Has the default model call a tool, and repeat its result: a second request with the first answer in its history. */
async function loopOnce({ models }: App, abortSignal: AbortSignal): Promise<Finding> {
  const check = "model tools";
  const code = randomBytes(4).toString("hex");
  let calls = 0;
  let failure: unknown;
  const parameters = { type: "object", properties: {}, additionalProperties: false } as const;
  const read_code = tool({
    description: "Returns the code.",
    inputSchema: jsonSchema(parameters),
    execute: async () => {
      calls += 1;
      return { code };
    },
  });
  const { text } = streamText({
    model: models.resolve(models.defaultModelId),
    prompt:
      "Call the tool read_code. Then reply with the code that it has returned, and nothing else.",
    tools: { read_code },
    stopWhen: isStepCount(3),
    maxRetries: 0,
    abortSignal,
    onError: ({ error }) => {
      failure = error;
    },
  });
  const answer = await Promise.resolve(text).catch((error: unknown) => {
    failure ??= error;
    return "";
  });
  if (failure !== undefined) {
    const status = Object(failure).statusCode;
    const where = calls === 0 ? "first request" : "request with the tool's result";
    const said = `${describeFailure(failure)}${typeof status === "number" ? ` (status ${status})` : ""}`;
    return failed(check, `the ${where} fails: ${said}`, MODEL_REMEDY);
  }
  if (calls === 0) return failed(check, "the model answers without the tool", MODEL_REMEDY);
  return answer.includes(code)
    ? ok(check, "the model calls a tool and reads its result")
    : warning(check, "the model calls a tool and does not repeat its result", MODEL_REMEDY);
}

/** Runs a command in a new sandbox, which is destroyed again. */
async function runOnce({ sandboxes }: App): Promise<Finding> {
  const check = "sandbox command";
  const accountId = randomUUID();
  const remedy = "See the finding of the sandbox and of this machine's isolation.";
  const state = await sandboxes.provision(randomUUID(), accountId);
  try {
    const options = { timeoutMs: 30_000, maxOutputChars: 1_000 };
    const sandbox = sandboxes.open(state, accountId);
    const { exitCode, stdout } = await sandbox.run("echo $((6 * 7))", options);
    if (exitCode === 0 && stdout.trim() === "42") return ok(check, "a command runs");
    return failed(check, `a command ends with ${exitCode} and other output`, remedy);
  } finally {
    await sandboxes.destroy(state);
  }
}
