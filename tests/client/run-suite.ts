/** Headless runs of the library, also through a proxy that cuts its connections. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type FaultProxy, startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import type { PackedClient } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";

/** @param packed the package, installed */
export function runSuite(packed: () => PackedClient): void {
  let proxy: FaultProxy;
  let person: Person;
  beforeAll(async () => {
    [proxy, person] = await Promise.all([
      startFaultProxy(Number(new URL(stack.url).port)),
      createPerson(),
    ]);
  });
  afterAll(() => proxy?.close());

  const connect = (baseUrl: string = stack.url) =>
    packed().module.createClient({ baseUrl, apiKey: person.key });

  describe("waitForRun", () => {
    it("resolves to a run that has ended, through a connection that breaks", async () => {
      const client = connect(proxy.url);
      const { data } = await client.api.POST("/api/chat/runs", { body: { prompt: "count to 3" } });
      proxy.cutAll();
      const states: string[] = [];
      const onState = ({ status }: { status: string }) => void states.push(status);
      const run = await client.waitForRun(data?.runId ?? "", { onState });
      expect(run).toMatchObject({ runId: data?.runId, status: "completed" });
      expect(states.at(-1)).toBe("completed");
    });
  });

  describe("run", () => {
    const schema = z.object({ title: z.string(), tracks: z.array(z.string()).min(1) });
    const submitted = { title: "EP", tracks: ["One"] };
    const prompt = `submit \`${JSON.stringify(submitted)}\``;

    it("resolves to the output of a zod schema, with its type, through a connection that breaks", async () => {
      proxy.cutAll();
      const { status, output } = await connect(proxy.url).run({ prompt, schema });
      expect(status).toBe("completed");
      const tracks: readonly string[] | undefined = output?.tracks;
      expect(tracks).toEqual(submitted.tracks);
      expect(output).toEqual(submitted);
    });

    it("takes a JSON Schema, and the type of its output", async () => {
      const { output } = await connect().run<typeof submitted>({
        prompt,
        schema: { type: "object", required: ["title"] },
        more: { model: "embedded/rules" },
      });
      expect(output?.title).toBe("EP");
    });

    it("has no output when it fails, and throws when it is refused", async () => {
      const failed = await connect().run({ prompt: "hello", schema });
      expect(failed).toMatchObject({
        status: "failed",
        error: expect.stringMatching(/^output_invalid: /),
        output: null,
      });
      const refused = connect().run({ prompt, schema: { type: "float" } });
      await expect(refused).rejects.toMatchObject({ status: 400, code: "invalid_request" });
    });

    it("needs no schema", async () => {
      const { status, output } = await connect().run({ prompt: "count to 3" });
      expect({ status, output }).toEqual({ status: "completed", output: null });
    });
  });
}
