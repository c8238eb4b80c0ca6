/** One and two servers on one database and one sandbox folder, which lose connections, die and are drained. */
import { describe } from "vitest";
import { databaseSuite } from "./suites/database.ts";
import { drainSuite } from "./suites/drain.ts";
import { headlessSuite } from "./suites/headless.ts";
import { modelCallsSuite } from "./suites/model-calls.ts";
import { provideWorkspace } from "./suites/provide-workspace.ts";
import { twoServersSuite } from "./suites/two-servers.ts";

// Longer than any test, because a draining server cuts requests that take longer.
const provide = provideWorkspace({ DRAIN_SECONDS: "600" });

describe("model calls", () => modelCallsSuite(provide));
describe("database", () => databaseSuite(provide));
describe("two servers", () => twoServersSuite(provide));
describe("headless", () => headlessSuite(provide));
describe("drain", () => drainSuite(provide));
