/**
 * Program: a server that runs the workflows on the World of `WORKFLOW_TARGET_WORLD`, as an
 * application would: `serve.ts <folder of the bundles>`.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import type { World } from "@workflow/world";
import { getHookByToken, getRun, resumeHook, resumeWebhook, start } from "workflow/api";
import { getWorld } from "workflow/runtime";

const folder = process.argv[2] ?? ".";
type Handler = (request: Request) => Promise<Response>;
const bundle = (name: string): { POST: Handler } =>
  createRequire(import.meta.url)(join(folder, `${name}.cjs`));
const manifest = JSON.parse(
  readFileSync(join(folder, ".well-known/workflow/v1/manifest.json"), "utf8"),
) as { workflows: Record<string, Record<string, { workflowId: string }>> };
const workflows = Object.assign({}, ...Object.values(manifest.workflows));

const world = getWorld();
const flow = bundle("flow").POST;
const step = bundle("step").POST;

type Parts = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** Every operation that the suite asks for, by the first part of the path. */
const operations: Record<string, (body: never) => Promise<unknown>> = {
  start: async ({ name, args }: { name: string; args: unknown[] }) =>
    (await start(workflows[name], args)).runId,
  cancel: ({ runId }: { runId: string }) => getRun(runId).cancel(),
  wake: ({ runId }: { runId: string }) => getRun(runId).wakeUp(),
  status: ({ runId }: { runId: string }) => getRun(runId).status,
  output: ({ runId }: { runId: string }) => getRun(runId).returnValue,
  resume: async ({ token, payload }: { token: string; payload: unknown }) => {
    const { metadata } = await getHookByToken(token);
    await resumeHook(token, payload);
    return metadata;
  },
  world: ({ part, operation, args }: { part: string; operation: string; args: unknown[] }) =>
    ((part ? (world as unknown as Parts)[part] : world) as Parts[string])[operation]?.(
      ...args,
    ) as Promise<unknown>,
};

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/.well-known/workflow/v1/flow") return flow(request);
  if (pathname === "/.well-known/workflow/v1/step") return step(request);
  const [name = "", argument = ""] = pathname.split("/").filter(Boolean).slice(-2);
  if (name === "webhook") return resumeWebhook(decodeURIComponent(argument), request);
  if (name === "stream") {
    const startIndex = Number(searchParams.get("startIndex") ?? 0);
    const lines = new TransformStream({
      transform: (chunk, controller) => controller.enqueue(`${JSON.stringify(chunk)}\n`),
    });
    const readable = getRun(argument).getReadable({ startIndex }).pipeThrough(lines);
    return new Response(readable.pipeThrough(new TextEncoderStream()));
  }
  const result = await operations[pathname.slice(1)]?.((await request.json()) as never);
  return Response.json(result ?? null);
}

const fetch = (request: Request) =>
  answer(request).catch((error: unknown) => {
    const { name, message } = error as Error;
    return Response.json({ name, message }, { status: 500 });
  });

serve({ fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" }, async () => {
  await (world as World).start?.();
  process.send?.("started");
});
