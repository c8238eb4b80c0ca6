/** Options that cannot be, in every body that has them: refused by name. */
import { validator } from "@platform/endpoint/read-input";
import { expect, it } from "vitest";
import { z } from "zod";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";

const faults: readonly [object, string][] = [
  [{ limits: { max_cost_usd: -1 } }, "limits.max_cost_usd must be greater than 0"],
  [{ limits: { max_cost_usd: 0 } }, "limits.max_cost_usd must be greater than 0"],
  [{ limits: { max_cost_usd: 10_001 } }, "limits.max_cost_usd must be at most 10000"],
  [{ limits: { max_cost_usd: "1" } }, "limits.max_cost_usd must be a number"],
  [{ limits: { max_cost_usd: Number.POSITIVE_INFINITY } }, "limits.max_cost_usd must be"],
  [{ limits: { max_steps: 1.5 } }, "limits.max_steps must be an integer"],
  [{ limits: { max_duration_s: 604_801 } }, "limits.max_duration_s must be at most 604800"],
  [{ limits: 5 }, "limits must be an object"],
  [{ fallback_models: Array(4).fill("spare") }, "fallback_models"],
  [{ fallback_models: [""] }, "fallback_models"],
  [{ fallback_models: "spare" }, "fallback_models"],
  [{ effort: "greatest" }, "effort"],
];

const withOptions = operations.flatMap(({ id, contract }) =>
  "limits" in Object(Object(contract.body).shape) ? [[id, contract] as const] : [],
);

it("has the options of chats, runs, tasks and templates", () => {
  expect(withOptions.map(([id]) => id).sort()).toEqual([
    ...["createChat", "createTask", "createTemplate", "startRun", "startTurn"],
    ...["updateChat", "updateTask", "updateTemplate"],
  ]);
});

it.each(withOptions)("%s", (id, contract) => {
  const validate = validator({ ...contract, params: undefined, query: undefined });
  const { body } = z.looseObject({ body: z.looseObject({}) }).parse(examples[id]?.success?.request);
  for (const [options, message] of faults) {
    const refused = validate({
      params: undefined,
      query: undefined,
      body: { ...body, ...options },
    });
    expect(refused, id).toMatchObject({ message: expect.stringContaining(message) });
  }
});
