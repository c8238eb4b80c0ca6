/**
 * Program: a server that runs the route files of `app` from their sources, without Next.js and without a build.
 * It has no pages, no proxy and none of the headers of `next.config.ts`. It reads the settings and answers the
 * signals of `scripts/server-process.ts`.
 */
import { globSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import type { RouteHandler } from "@platform/endpoint/methods";
import { RouteTable } from "@platform/endpoint/route-table";
import { answerUnknownPath, refuseUndecodablePath } from "@platform/endpoint/unknown-path";
import { drain } from "@platform/kit/drain";
import { BaseBuilder } from "@workflow/builders";
import { register } from "../../../instrumentation.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

type Handlers = Readonly<Record<string, RouteHandler>>;

const WORKFLOWS = ["lib/turns/turn-workflow.ts", "lib/content/generation-workflow.ts"];
const STEP_HANDLER = join(projectRoot, "node_modules/@workflow/core/dist/runtime/step-handler.js");
const FLOW = join(projectRoot, "node_modules/.cache/workflows/flow.mjs");

/** Compiles the workflows for the context in which the Workflow SDK runs them. Their steps need no compiler. */
class WorkflowBuilder extends BaseBuilder {
  override async build(): Promise<void> {
    const files = WORKFLOWS.map((file) => join(projectRoot, file));
    await mkdir(join(FLOW, ".."), { recursive: true });
    await this.createWorkflowsBundle({
      inputFiles: files,
      outfile: FLOW,
      format: "esm",
      bundleFinalOutput: false,
      tsconfigPath: join(projectRoot, "tsconfig.json"),
      discoveredEntries: {
        discoveredSteps: [],
        discoveredWorkflows: files,
        discoveredSerdeFiles: [],
      },
    });
  }
}

async function loadFlow(): Promise<Handlers> {
  await new WorkflowBuilder({
    buildTarget: "standalone",
    dirs: ["."],
    workingDir: projectRoot,
    stepsBundlePath: "",
    workflowsBundlePath: FLOW,
    webhookBundlePath: "",
    suppressCreateWorkflowsBundleLogs: true,
  }).build();
  return import(FLOW);
}

async function loadStep(): Promise<Handlers> {
  for (const file of WORKFLOWS) await import(join(projectRoot, file));
  // The module registers the handler with the World of the process when it is evaluated. The engine imports it
  // before it sets its World, so this is another instance.
  const { stepEntrypoint } = await import(`${STEP_HANDLER}?of-the-engine`);
  return { POST: stepEntrypoint };
}

const routes = new RouteTable<() => Promise<Handlers>>();
for (const file of globSync("app/**/route.ts", { cwd: projectRoot })) {
  routes.add(file.slice("app".length, -"/route.ts".length), () => import(join(projectRoot, file)));
}
routes.add("/.well-known/workflow/v1/flow", loadFlow);
routes.add("/.well-known/workflow/v1/step", loadStep);

const loaded = new Map<() => Promise<Handlers>, Promise<Handlers>>();

async function answer(request: Request): Promise<Response> {
  const found = routes.match(new URL(request.url).pathname);
  if (!found) return refuseUndecodablePath(request) ?? answerUnknownPath(request);
  const { route: load, params } = found;
  const handlers = loaded.get(load) ?? load();
  loaded.set(load, handlers);
  const handler = (await handlers)[request.method];
  return handler
    ? handler(request, { params: Promise.resolve(params) })
    : new Response(null, { status: 405 });
}

const port = Number(process.env.PORT);
const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false }));
// Like the production server, because a client may reuse a connection that is just being closed.
server.keepAliveTimeout = 75_000;
process.env.NEXT_RUNTIME = "nodejs";
process.env.SELF_ORIGIN = `http://127.0.0.1:${port}`;
await register();
server.listen(port, "127.0.0.1");

process.on("SIGTERM", async () => {
  const deadline = AbortSignal.timeout(5_000);
  const served = new Promise((resolve) => server.close(resolve));
  await drain().begin(deadline, served);
  process.exit(0);
});
