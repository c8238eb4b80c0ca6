import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

/**
 * Returns the program of a Chromium on this machine, or undefined. `CHROMIUM_PATH` names it where it is not on the
 * path. The headless shell comes first, because it is the same engine without the cost of a browser's windows.
 */
export function findChromium(): string | undefined {
  const names = [
    ...["chromium-headless-shell", "chrome-headless-shell"],
    ...["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  ];
  const folders = (process.env.PATH ?? "").split(":");
  const candidates = [
    process.env.CHROMIUM_PATH,
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    chromium.executablePath(),
  ];
  return candidates.find((file) => file && existsSync(file));
}
