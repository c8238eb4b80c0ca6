/**
 * The steps of the container image without Docker: what its Dockerfile says is run under bubblewrap,
 * with a root file system that cannot be written. The packages of the base image are this system's.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { makeKey, newFolder, removeFolder, run, type Settings, serve } from "./packaged.ts";

const hasBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "true"]).status === 0;
if (!hasBubblewrap) {
  console.warn("SKIPPED: the image is not tested, because bubblewrap (bwrap) cannot run here.");
}

const stages = readFileSync("deploy/Dockerfile", "utf8")
  .replace(/\\\n/g, " ")
  .split(/^(?=FROM )/m)
  .map((stage) => stage.split("\n"));
/** The arguments of the last such instruction of the final stage. */
const instruction = (name: string): string => {
  const lines = stages.at(-1)?.filter((line) => line.startsWith(`${name} `)) ?? [];
  return lines.at(-1)?.slice(name.length + 1) ?? expect.unreachable(`no ${name}`);
};
const words = z.array(z.string());
const listOf = (text: string): string[] => words.parse(JSON.parse(text.slice(text.indexOf("["))));
const home = instruction("COPY").split(" ").at(-1) ?? "";
const data = instruction("VOLUME");
const [name = "", value = ""] = instruction("ENV").split("=");
const [uid = "", gid = ""] = instruction("USER").split(":");

/** @param prepare returns the folder of a package and the URL of a database with nothing in it */
export function imageSuite(prepare: () => Promise<{ folder: string; databaseUrl: string }>): void {
  it("is built from nothing but the package, and does not run as root", () => {
    expect(stages.at(-1)?.filter((line) => line.startsWith("COPY "))).toEqual([
      `COPY --from=package /src/dist ${home}`,
    ]);
    expect(stages.flat()).toContain("RUN npm run package");
    expect([name, value]).toEqual(["DATA_DIR", data]);
    expect(instruction("WORKDIR")).toBe(data);
    expect(Number(uid)).toBeGreaterThan(0);
    expect(Number(gid)).toBeGreaterThan(0);
    expect(instruction("RUN")).toContain(`--owner=${uid} --group=${gid} --mode=700 ${data}`);
  });

  describe.skipIf(!hasBubblewrap)("a container", () => {
    let dist: string;
    let settings: Settings;
    let volume: string;
    beforeAll(async () => {
      const { folder, databaseUrl } = await prepare();
      dist = folder;
      settings = { [name]: value, DATABASE_URL: databaseUrl };
      volume = await newFolder();
    });
    afterAll(() => removeFolder(volume));

    /** The command line in a container with a read-only root, a volume and an empty /tmp. */
    const contain = (argv: readonly string[]): string[] => [
      ...["bwrap", "--unshare-user", "--uid", uid, "--gid", gid, "--die-with-parent"],
      ...["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"].flatMap((path) =>
        existsSync(path) ? ["--ro-bind", path, path] : [],
      ),
      ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
      ...["--ro-bind", dist, home, "--bind", volume, data],
      ...["--remount-ro", "/", "--chdir", instruction("WORKDIR"), "--"],
      ...argv,
    ];
    const inContainer = (...argv: string[]) => run(contain(argv), "/", settings);
    /** The process that runs in the container: the first child of `bwrap`. */
    const mainProcessOf = (pid: number | undefined): number =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);

    it("can write only its volume and /tmp", async () => {
      const script = 'for d in "$@"; do touch "$d/x" 2>/dev/null && echo "$d"; done';
      const places = ["/", "/usr", "/etc", home, join(home, "bin"), data, "/tmp"];
      const { output } = await inContainer("/bin/sh", "-c", script, "sh", ...places);
      expect(output.trim().split("\n")).toEqual([data, "/tmp"]);
    });

    it("migrates, serves a turn with a tool, is healthy, and ends at SIGTERM", async () => {
      const [command = ""] = listOf(instruction("CMD"));
      const server = await serve(contain([command, "--migrate"]), "/", settings);
      const check = listOf(instruction("HEALTHCHECK"));
      const healthy = { ...settings, PORT: new URL(server.url).port };
      expect(await run(contain(check), "/", healthy)).toEqual({ code: 0, output: "" });

      const key = await makeKey(contain([join(home, "bin", "key")]), "/", settings);
      const caller = client({ key }, server.url);
      const turn = await (await openConversation(caller)).send(
        "run: echo in a container | tr a-z A-Z",
      );
      await turn.ended;
      expect(turn.isDone).toBe(true);
      expect(turn.text).toContain("IN A CONTAINER");

      process.kill(mainProcessOf(server.child.pid), "SIGTERM");
      expect((await server.ended).code).toBe(0);
      expect(await run(contain(check), "/", healthy)).toMatchObject({ code: 1 });
      expect(readdirSync(volume)).toContain("secrets.json");
    });
  });
}
