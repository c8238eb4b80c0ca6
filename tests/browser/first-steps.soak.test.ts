/** The first half hour of a new account on a phone. */
import { it, vi } from "vitest";
import { describeInBrowser, signIn } from "../support/harness/browser.ts";
import { walkFirstSteps } from "./walk-first-steps.ts";

vi.setConfig({ testTimeout: 360_000 });

describeInBrowser("a new account", ({ newTab }) => {
  it("has a file analyzed, an artist, a schedule, a video and a key in use with few clicks", async () => {
    const tab = await newTab({ width: 390, height: 844 });
    await signIn(tab);
    await walkFirstSteps(tab.page, true);
  });
});
