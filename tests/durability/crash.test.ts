/** kill -9 of the server in turns and generations; the same database and folder; a new server. */
import { describe } from "vitest";
import { approvalsSuite } from "./suites/approvals.ts";
import { clientToolsSuite } from "./suites/client-tools.ts";
import { crashSuite } from "./suites/crash.ts";
import { outputSuite } from "./suites/output.ts";
import { paidGenerationsSuite } from "./suites/paid-generations.ts";
import { providePaidWorkspace } from "./suites/provide-workspace.ts";

const { provide, fal } = providePaidWorkspace();

describe("crash", () => crashSuite(provide));
describe("client tools", () => clientToolsSuite(provide));
describe("approvals", () => approvalsSuite(provide));
describe("output", () => outputSuite(provide));
describe("paid generations", () => paidGenerationsSuite(provide, fal));
