/**
 * The reach of compromised native code in the process that opens strangers' media, and of the
 * sandbox's process outside the shell that it offers. Node without its permission model stands for
 * such code: it does whatever the kernel permits. This file is long because every kind of isolation
 * has to stop the same attempts.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  writeFile,
} from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isAppError } from "@platform/endpoint/contract/app-error";
import {
  confine,
  detectIsolation,
  type Host,
  type Isolation,
  thisHost,
} from "@platform/kit/isolation/isolation";
import { runJob, viewOf } from "@platform/media/embedded/render-process";
import { createLocalProvider } from "@platform/sandbox/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  createMediaFolder,
  drawScene,
  imageOrder,
  type MediaFolder,
  videoOrder,
} from "../support/fixtures/content.ts";
import { makeVideo } from "../support/fixtures/encoded-media.ts";
import { createRenderer } from "../support/fixtures/renderer.ts";
import { environmentOf, findConfined, listConfined } from "../support/harness/confined.ts";
import { decodeVideo } from "../support/harness/decode.ts";

const host = thisHost();
const without = (...programs: string[]): Host => ({
  ...host,
  run: (argv) => (programs.includes(argv[0] ?? "") ? null : host.run(argv)),
});
const best = detectIsolation();
const asUser = detectIsolation(without("bwrap"));
const never = new AbortController().signal;
const CANARY = `canary-${randomUUID()}`;

let mediaFolder: MediaFolder;
let secret: string;
/** This process's initial environment, as the kernel shows it. */
let ownEnvironment: string;
let internal: Server;
let internalPort = 0;
let connections = 0;

beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  secret = join(await mkdtemp(join(tmpdir(), "agent-platform-secret-")), "secret.txt");
  await writeFile(secret, CANARY, { mode: 0o600 });
  ownEnvironment = await readFile("/proc/self/environ", "utf8").catch(() => "none");
  internal = createServer((_, response) => response.end(CANARY));
  internal.on("connection", () => {
    connections += 1;
  });
  internal.listen(0, "127.0.0.1");
  await once(internal, "listening");
  const address = internal.address();
  internalPort = typeof address === "object" && address ? address.port : 0;
});
afterAll(async () => {
  internal.close();
  await mediaFolder.clear();
  await rm(dirname(secret), { recursive: true, force: true });
});

/** Tries everything and writes down what worked. */
const HOSTILE = `
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
const [report, secret, port, input, ...outside] = process.argv.slice(2);
const attempt = (what) => { try { return what(); } catch { return null; } };
const pids = (attempt(() => readdirSync("/proc")) ?? []).filter((name) => /^\\d+$/.test(name));
const connected = await new Promise((resolve) => {
  const socket = connect(Number(port), "127.0.0.1");
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
});
writeFileSync(report, JSON.stringify({
  uid: process.getuid(),
  environment: Object.keys(process.env).sort(),
  connected,
  environments: pids.map((pid) => attempt(() => readFileSync("/proc/" + pid + "/environ", "utf8")) ?? ""),
  secret: attempt(() => readFileSync(secret, "utf8")),
  input: attempt(() => readFileSync(input, "utf8")) !== null,
  written: [...outside, input].filter((path) => attempt(() => { closeSync(openSync(path, "a")); return true; })),
  root: attempt(() => readdirSync("/")),
}));
process.exit(0);
`;

/** Of these none may be opened for writing. */
const places = () => [
  join(process.cwd(), "package.json"),
  join(process.cwd(), "packages", "media", "src", "planted"),
  join(dirname(secret), "planted"),
  "/planted",
  // Belongs to the host's root, also in a namespace that root has created.
  "/proc/sys/kernel/core_pattern",
];

const findings = z.object({
  uid: z.number(),
  environment: z.array(z.string()),
  connected: z.boolean(),
  environments: z.array(z.string()),
  secret: z.string().nullable(),
  input: z.boolean(),
  written: z.array(z.string()),
  root: z.array(z.string()),
});

/** Runs hostile code where the renderer of a job would run. */
async function attack(isolation: Isolation, outside: readonly string[]) {
  const script = await mediaFolder.put("hostile.mjs", "text/plain", Buffer.from(HOSTILE));
  await chmod(dirname(script.path), 0o711);
  const folder = await mediaFolder.folder();
  const report = join(folder, "report.json");
  // The file is there, for another user to write, and nothing else is.
  await chmod(folder, 0o777);
  const view = viewOf({ inputs: [script.path], folder });
  const attempt = [script.path, report, secret, String(internalPort), script.path, ...outside];
  const [program = "", ...args] = confine([process.execPath, ...attempt], view, isolation);
  const env = {} as NodeJS.ProcessEnv;
  const child = spawn(program, args, {
    cwd: view.cwd,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await once(child, "close")).toEqual([0, null]);
  return findings.parse(JSON.parse(await readFile(report, "utf8")));
}

describe.runIf(best.kind === "namespaces")("native code that is taken over, in namespaces", () => {
  test("has no network, sees no other process, and no file but its own", async () => {
    connections = 0;
    const found = await attack(best, places());
    expect(found).toMatchObject({ connected: false, secret: null, input: true, written: [] });
    expect(connections).toBe(0);
    expect(found.uid).not.toBe(process.getuid?.());
    expect(found.environment.filter((name) => name !== "PWD")).toEqual([]);
    expect(found.environments).not.toContain(ownEnvironment);
    // Its own, and the environment of the process that started it.
    expect(found.environments.length).toBeLessThanOrEqual(2);
    expect(found.root).not.toContain("home");
  });
});

describe.runIf(asUser.kind === "user")("native code that is taken over, as another user", () => {
  test("reads no environment of the server, no private file, and writes only its folder", async () => {
    connections = 0;
    const found = await attack(asUser, places());
    expect(found).toMatchObject({ secret: null, input: true, written: [] });
    expect(found.uid).toBe(65_534);
    expect(found.environments).not.toContain(ownEnvironment);
    if (asUser.kind !== "user" || !asUser.unshare) return;
    expect(found.connected).toBe(false);
    expect(connections).toBe(0);
    expect(found.environments).toHaveLength(1);
  });
});

// The remaining isolation where the host permits nothing, and the proof that the attacks above are attacks.
describe.runIf(process.platform === "linux")("native code that is taken over, elsewhere", () => {
  test("has all rights of the server's user", async () => {
    const found = await attack({ kind: "none", missing: "everything" }, []);
    expect(found).toMatchObject({ connected: true, secret: CANARY, uid: process.getuid?.() });
    expect(found.environments).toContain(ownEnvironment);
  });
});

const isolations: readonly Isolation[] = [
  best,
  ...(asUser.kind === "user" ? [asUser, { ...asUser, unshare: false }] : []),
  { kind: "none", missing: "everything" },
];

describe.each(isolations)("media are read and made as before with %o", (isolation) => {
  test("by the decoder and the encoder", async () => {
    const video = await mediaFolder.put("video.mp4", "video/mp4", await makeVideo(2));
    const folder = await mediaFolder.folder();
    const path = join(folder, "edited.mp4");
    const outcome = await runJob({
      request: { op: "edit", video, steps: [{ kind: "trim", start: 1 }] },
      folder,
      timeoutMs: 120_000,
      signal: never,
      isolation,
    });
    expect(outcome).toEqual({ op: "done" });
    expect(await decodeVideo(path)).toMatchObject({ width: 320, frames: 24 });
  });

  test("by the renderer", async () => {
    const scene = await drawScene("#444", { x: 200, y: 100 });
    const image = await mediaFolder.put("scene.png", "image/png", scene);
    const provider = createRenderer({ isolation, report: (cause) => console.error(cause) });
    const order = imageOrder({ references: [image] });
    const folder = await mediaFolder.folder();
    expect(isAppError(await provider.images(order, folder, never))).toBe(false);
    expect(await readdir(folder)).toEqual(["image-1.png"]);
  });

  test("in a folder below one that only the server may enter", async () => {
    const provider = createRenderer({ isolation, report: (cause) => console.error(cause) });
    const closed = await mediaFolder.folder();
    const [folder, stored] = [join(closed, "work"), join(closed, "stored")];
    for (const path of [folder, stored]) await mkdir(path, { mode: 0o700 });
    const image = { path: join(stored, "scene.png"), contentType: "image/png", url: "" };
    await writeFile(image.path, await drawScene("#444", { x: 200, y: 100 }), { mode: 0o600 });
    for (const order of [imageOrder({}), imageOrder({ references: [image, image] })]) {
      expect(isAppError(await provider.images(order, folder, never))).toBe(false);
      expect(await readdir(folder)).toEqual(["image-1.png"]);
    }
    const video = videoOrder({ image, seconds: 4 });
    expect(isAppError(await provider.video(video, folder, never))).toBe(false);
  });
});

describe.runIf(process.platform === "linux")("the process that renders", () => {
  test("has an empty environment and no privilege", async () => {
    const scene = await drawScene("#444", { x: 200, y: 100 });
    const image = await mediaFolder.put("long.png", "image/png", scene);
    const folder = await mediaFolder.folder();
    const leaving = new AbortController();
    const order = videoOrder({ image, resolution: "4k", seconds: 8 });
    const rendering = createRenderer({ report: () => {} }).video(order, folder, leaving.signal);
    const pid = await findConfined("render/main.", folder);
    expect(await environmentOf(pid)).toEqual([
      "NODE_CHANNEL_FD",
      "NODE_CHANNEL_SERIALIZATION_MODE",
      "NODE_WEBCODECS_FORCE",
      "PATH",
      "PWD",
    ]);
    if (best.kind === "namespaces") {
      for (const name of ["net", "pid", "mnt", "user", "ipc", "uts"]) {
        const [own, theirs] = await Promise.all(
          ["self", pid].map((each) => readlink(`/proc/${each}/ns/${name}`)),
        );
        expect(theirs, name).not.toBe(own);
      }
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(/^CapEff:\s+0{16}$/m);
      expect(status).toMatch(/^CapBnd:\s+0{16}$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    }
    leaving.abort();
    expect(isAppError(await rendering)).toBe(true);
    // Its end is reported only when the program itself has ended, not only its launcher.
    expect(await listConfined("render/main.", folder)).toEqual([]);
  });
});

describe("a sandbox's process", () => {
  test.runIf(process.platform === "linux")("reads no environment of the server", async () => {
    const root = await mkdtemp(join(tmpdir(), "agent-platform-jail-"));
    const provider = createLocalProvider({ rootDir: root, diskQuota: 1e6, allowedHosts: [] });
    const session = randomUUID();
    const state = await provider.provision(session, "account");
    await provider.open(state, "account").run("true", { timeoutMs: 30_000, maxOutputChars: 10 });
    const pid = await findConfined("local/runner.", session);
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    const runner = words.findIndex((word) => word.includes("local/runner."));

    // The permission model alone, as on a host without namespaces.
    const read = `try { fs.readFileSync("/proc/${process.pid}/environ"); console.log("read"); }
      catch (error) { console.log(error.code); }`;
    const flags = words.slice(1, runner);
    const { stdout } = spawnSync(process.execPath, [...flags, "-e", read], { encoding: "utf8" });
    expect(stdout).toBe("ERR_ACCESS_DENIED\n");
    expect(await environmentOf(pid)).toEqual([
      "NODE_CHANNEL_FD",
      "NODE_CHANNEL_SERIALIZATION_MODE",
      "PATH",
      "PWD",
    ]);
    if (best.kind === "namespaces") {
      // The processes and files it would see if the permission model failed.
      for (const name of ["pid", "mnt", "user"]) {
        expect(await readlink(`/proc/${pid}/ns/${name}`)).not.toBe(
          await readlink(`/proc/self/ns/${name}`),
        );
      }
      const visible = await readdir(`/proc/${pid}/root/proc`);
      expect(visible).not.toContain(String(process.pid));
      await expect(readFile(`/proc/${pid}/root${secret}`)).rejects.toMatchObject({
        code: "ENOENT",
      });
    }
    await provider.destroy(state);
    await rm(root, { recursive: true, force: true });
  });
});

describe("a host", () => {
  test("that is no Linux has no isolation, and asks for no program", () => {
    const run = () => {
      throw new Error("asked");
    };
    const found = detectIsolation({ platform: "darwin", isRoot: true, run });
    expect(found).toEqual({ kind: "none", missing: "namespaces, which darwin does not have" });
  });

  test("that lacks something is told what", () => {
    const nothing: Host = { platform: "linux", isRoot: false, run: () => null };
    expect(detectIsolation(nothing)).toEqual({
      kind: "none",
      missing: "bubblewrap (the program bwrap)",
    });
    const refusing: Host = {
      ...nothing,
      run: ([program, flag]) => (program === "bwrap" && flag === "--help" ? "usage" : null),
    };
    expect(detectIsolation(refusing)).toMatchObject({
      kind: "none",
      missing: expect.stringContaining("user namespaces"),
    });
  });
});
