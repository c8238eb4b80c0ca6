/** kill -9 of the server in turns and generations; the same database and folder; a new server. */
import { afterAll, describe } from "vitest";
import { type FakeFal, startFakeFal } from "../support/fakes/fal.ts";
import { approvalsSuite } from "./suites/approvals.ts";
import { clientToolsSuite } from "./suites/client-tools.ts";
import { crashSuite } from "./suites/crash.ts";
import { outputSuite } from "./suites/output.ts";
import { paidGenerationsSuite } from "./suites/paid-generations.ts";
import { paidBy, provideWorkspace } from "./suites/provide-workspace.ts";

let fal: FakeFal;
afterAll(() => fal?.close());
const provide = provideWorkspace(async () => {
  fal ??= await startFakeFal();
  return paidBy(fal);
});

describe("crash", () => crashSuite(provide));
describe("client tools", () => clientToolsSuite(provide));
describe("approvals", () => approvalsSuite(provide));
describe("output", () => outputSuite(provide));
describe("paid generations", () => paidGenerationsSuite(provide, () => fal));
