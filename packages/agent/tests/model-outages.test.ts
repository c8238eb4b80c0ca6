import { expect, test } from "vitest";
import { ModelOutages, modelsOf } from "../src/models/model-outages.ts";

test("a model that fails two calls in a row is skipped for 30 seconds, and again after one more", () => {
  let now = 0;
  const outages = new ModelOutages(() => now);
  const firstOf = () => outages.available(["a", "b"])[0];
  outages.recordFailure("a");
  outages.recordAnswer("a");
  outages.recordFailure("a");
  expect(firstOf()).toBe("a");
  outages.recordFailure("a");
  expect(firstOf()).toBe("b");
  now = 29_999;
  expect(firstOf()).toBe("b");
  now = 30_000;
  expect(firstOf()).toBe("a");
  outages.recordFailure("a");
  expect(firstOf()).toBe("b");
  outages.recordFailure("b");
  outages.recordFailure("b");
  expect(outages.available(["a", "b"])).toEqual(["a", "b"]);
});

test("a turn's own list goes before the installation's, and no model is called twice", () => {
  const installed = { fallbackModelIds: ["x", "a", "x"] };
  expect(modelsOf(installed, { model_id: "a", options: {} })).toEqual(["a", "x"]);
  const options = { fallback_models: ["b", "b", "a"] };
  expect(modelsOf(installed, { model_id: "a", options })).toEqual(["a", "b"]);
  expect(modelsOf(installed, { model_id: "a", options: { fallback_models: [] } })).toEqual(["a"]);
});
