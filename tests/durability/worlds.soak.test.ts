/** The turn suites on the Worlds of the Workflow SDK, through the generic adapter. */
import { describe } from "vitest";
import { worlds } from "../support/harness/worlds.ts";
import { approvalsSuite } from "./suites/approvals.ts";
import { claimsSuite } from "./suites/claims.ts";
import { clientToolsSuite } from "./suites/client-tools.ts";
import { crashSuite } from "./suites/crash.ts";
import { paidGenerationsSuite } from "./suites/paid-generations.ts";
import { providePaidWorkspace, provideWorkspace } from "./suites/provide-workspace.ts";
import { resumeSuite } from "./suites/resume.ts";
import { stopSuite } from "./suites/stop.ts";
import { twoServersSuite } from "./suites/two-servers.ts";

describe.each(worlds)("$name", (world) => {
  describe("resume", () => resumeSuite(world));
  describe("stop", () => stopSuite(world));
  describe("claims", () => claimsSuite(world));
  describe("crash", () => crashSuite(provideWorkspace({}, world), world));
  describe("client tools", () =>
    clientToolsSuite(provideWorkspace({ LOOPBACK_URLS: "webhooks" }, world), world));
  describe("approvals", () => approvalsSuite(provideWorkspace({}, world), world));
  describe("paid generations", () => {
    const { provide, fal } = providePaidWorkspace(world);
    paidGenerationsSuite(provide, fal);
  });
  describe.skipIf(world.cannot["several processes"])("two servers", () =>
    twoServersSuite(provideWorkspace({}, world), world),
  );
});
