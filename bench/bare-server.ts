/** The bare Next application that the product is measured against. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "../scripts/free-port.ts";

const next = join(process.cwd(), "node_modules/next/dist/bin/next");
const app = join(import.meta.dirname, "bare");

export async function buildBare(): Promise<void> {
  const build = spawn(process.execPath, [next, "build", "--webpack", app], { stdio: "ignore" });
  const [code] = await once(build, "exit");
  if (code !== 0) throw new Error("The bare application does not build");
}

export interface BareServer {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

export async function startBare(env: Readonly<Record<string, string>> = {}): Promise<BareServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [next, "start", app, "-p", String(port)], {
    stdio: "ignore",
    env: { ...process.env, ...env },
  });
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${url}/api/nothing`).catch(() => null);
    if (answer?.ok) {
      return { url, pid: child.pid ?? 0, stop: () => child.kill("SIGKILL") };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The bare application does not start");
}
