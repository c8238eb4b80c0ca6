/**
 * Uses each vendor of an installation once, as a server does: a tool loop of the model, a command in a sandbox, a list of
 * each other one. It may cost a vendor's money, and is for `doctor --deep` alone.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { describeFailure } from "@platform/agent/describe-failure";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import type { App } from "../parts.ts";
import { type Check, finish } from "./diagnose.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

const MODEL_REMEDY = "Set DEFAULT_MODEL to a model that calls tools, or correct its server.";
const LIST_REMEDY = "Try the same request with the vendor's own tools, or ask the vendor.";

/** Returns a finding for each configured vendor; embedded adapters are left out. */
export async function exerciseVendors(app: App, timeoutMs: number): Promise<Finding[]> {
  const { connectors, catalog, research, search, taskRunner } = app;
  const deadline = AbortSignal.timeout(timeoutMs);
  const query = { q: "velvet", kinds: ["artist"] as const, market: null, limit: 1, offset: 0 };
  const question = { query: "music industry news", domains: [], since: null };
  const page = { connector: "gmail", limit: 1, cursor: undefined };
  const lists: Record<
    string,
    readonly [{ readonly name: string } | null, () => Promise<object | undefined>]
  > = {
    connectors: [connectors, async () => connectors?.listActions(page)],
    catalog: [catalog, () => catalog.search(query)],
    research: [research, () => research.listTracks({ name: "Daft Punk" })],
    search: [search, () => search.search(question, deadline)],
    taskRunner: [taskRunner, () => taskRunner.list({ accountId: randomUUID(), limit: 1 }, log())],
  };
  const checks = Object.entries(lists).flatMap(([name, [adapter, list]]): [string, Check][] =>
    adapter === null || adapter.name === "embedded"
      ? []
      : [[`${name} list`, async () => [describeList(`${name} list`, await list())]]],
  );
  const model: Check = async () => [await loopOnce(app, deadline)];
  if (app.models.name !== "embedded") checks.unshift(["model tools", model]);
  checks.push(["sandbox command", async () => [await runOnce(app)]]);
  return (await Promise.all(checks.map(([name, check]) => finish(name, check, deadline)))).flat();
}

/** Describes the answer of any port: a list, an object with one, or a failure, whose texts are the service's own. */
function describeList(check: string, answer: object | undefined): Finding {
  if (isAppError(answer)) return failed(check, `fails: ${answer.message}`, LIST_REMEDY);
  const fields: Readonly<Record<string, unknown>> = { ...answer };
  if ("cause" in fields || "failure" in fields) {
    return failed(check, `fails (status ${fields.status ?? "unknown"})`, LIST_REMEDY);
  }
  // A catalog answers with a page of each kind.
  const { artists = fields } = fields;
  const items = [answer, ...Object.values(Object(artists))].find(Array.isArray) ?? [];
  if (items.length > 0 || check === "taskRunner list") return ok(check, "answers as expected");
  return warning(check, "answers with an empty list, where something was expected", LIST_REMEDY);
}

/** Has the default model call a tool, and repeat its result: a second request with the first answer in its history. */
async function loopOnce({ models }: App, abortSignal: AbortSignal): Promise<Finding> {
  const check = "model tools";
  const code = randomBytes(4).toString("hex");
  let calls = 0;
  let failure: unknown;
  const inputSchema = jsonSchema({ type: "object", properties: {}, additionalProperties: false });
  const execute = async () => {
    calls += 1;
    return { code };
  };
  const { text } = streamText({
    model: models.resolve(models.defaultModelId),
    prompt:
      "Call the tool read_code. Then reply with the code that it has returned, and nothing else.",
    tools: { read_code: tool({ description: "Returns the code.", inputSchema, execute }) },
    stopWhen: isStepCount(3),
    maxRetries: 0,
    abortSignal,
    onError: ({ error }) => {
      failure = error;
    },
  });
  const answer = await Promise.resolve(text).catch((error: unknown) => {
    failure ??= error;
  });
  if (failure !== undefined) {
    const status = Number(Object(failure).statusCode);
    const said = `${describeFailure(failure)}${status ? ` (status ${status})` : ""}`;
    const where = calls === 0 ? "first request" : "request with the tool's result";
    return failed(check, `the ${where} fails: ${said}`, MODEL_REMEDY);
  }
  if (calls === 0) return failed(check, "the model answers without the tool", MODEL_REMEDY);
  return answer?.includes(code)
    ? ok(check, "the model calls a tool and reads its result")
    : warning(check, "the model calls a tool and does not repeat its result", MODEL_REMEDY);
}

/** Runs a command in a new sandbox, which is destroyed again. */
async function runOnce({ sandboxes }: App): Promise<Finding> {
  const check = "sandbox command";
  const accountId = randomUUID();
  const state = await sandboxes.provision(randomUUID(), accountId);
  try {
    const limits = { timeoutMs: 30_000, maxOutputChars: 1_000 };
    const ran = sandboxes.open(state, accountId).run("echo $((6 * 7))", limits);
    const { exitCode, stdout } = await ran;
    if (exitCode === 0 && stdout.trim() === "42") return ok(check, "a command runs");
    const remedy = "See the finding of the sandbox and of this machine's isolation.";
    return failed(check, `a command ends with ${exitCode} and other output`, remedy);
  } finally {
    await sandboxes.destroy(state);
  }
}
