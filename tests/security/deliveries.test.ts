/** The server to which Worlds deliver takes nothing that its own process has not sent. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { World } from "@workflow/world";
import { expect, it } from "vitest";
import { Deliveries } from "../../lib/engine/adapters/workflow/deliveries.ts";

it("takes messages of its own process, and of no other one on the machine", async () => {
  const deliveries = new Deliveries({ selfOrigin: "http://127.0.0.1:9", reloadHandlers: false });
  const { WORKFLOW_LOCAL_BASE_URL: origin } = await deliveries.listen();
  const delivered: string[] = [];
  const world = {
    createQueueHandler: (prefix: string) => async (request: Request) => {
      delivered.push(`${prefix}${await request.text()}`);
      return Response.json({ ok: true });
    },
  } as unknown as World;
  deliveries.serve(world);
  const routes = [
    world.createQueueHandler("__wkf_workflow_", async () => {}),
    world.createQueueHandler("__wkf_step_", async () => {}),
  ];

  const path = `${origin}/.well-known/workflow/v1`;
  for (const kind of ["flow", "step"]) {
    const own = await fetch(`${path}/${kind}`, { method: "POST", body: "own" });
    expect(own.status).toBe(200);
    const program = `fetch("${path}/${kind}", { method: "POST", body: "foreign" })
      .then((answer) => console.log(answer.status))`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", program]);
    expect(stdout.trim()).toBe("404");
  }
  expect(delivered).toEqual(["__wkf_workflow_own", "__wkf_step_own"]);

  for (const request of [
    new Request(`${path}/flow`),
    new Request(`${path}/webhook/x`, { method: "POST", body: "own" }),
  ]) {
    expect((await fetch(request)).status).toBe(404);
  }
  for (const route of routes) {
    const message = new Request(`${path}/flow`, { method: "POST", body: "public" });
    expect((await route(message)).status).toBe(404);
  }
  expect(delivered).toHaveLength(2);
});
