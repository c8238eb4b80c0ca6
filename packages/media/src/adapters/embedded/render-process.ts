/**
 * Renders media on this machine, within the account's fair share of it. Each job runs in its own child process:
 * `node --permission` with an empty environment, which may read its code and the job's inputs and write the job's
 * folder. The inputs are untrusted: a decoder that crashes, hangs or exhausts memory affects only this child. Node's
 * permission model does not bind native code, so the kernel enforces the same limits and removes network access
 * where the host supports it (`packages/kit/src/isolation`).
 */
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { chmod, chown, copyFile, link, mkdtemp, rm } from "node:fs/promises";
import { basename, relative } from "node:path";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { type FairQueue, isQueueRefusal } from "@platform/kit/fair-queue";
import { killGroup, residentBytes } from "@platform/kit/isolation/child-process";
import {
  confine,
  type Isolation,
  isolation as isolationOfHost,
  LAUNCHER_PATH,
  UNPRIVILEGED_ID,
  type View,
} from "@platform/kit/isolation/isolation";
import { findProgram } from "@platform/kit/isolation/program";
import { log } from "@platform/kit/log";
import { runtimePath } from "@platform/kit/runtime-path";
import { z } from "zod";
import {
  type EditStep,
  type GeneratedFile,
  generationFailed,
  type ImageOrder,
  type MediaFile,
  type VideoOrder,
} from "../../port.ts";

export type RenderRequest =
  | { readonly op: "video"; readonly order: VideoOrder }
  | { readonly op: "image"; readonly order: ImageOrder }
  | { readonly op: "edit"; readonly video: MediaFile; readonly steps: readonly EditStep[] };

/** Returns the names of the files that the child writes into its folder. */
function namesOf(request: RenderRequest): readonly string[] {
  if (request.op === "edit") return ["edited.mp4"];
  if (request.op === "video") return ["video.mp4"];
  return Array.from({ length: request.order.count }, (_, at) => `image-${at + 1}.png`);
}

const renderReply = z.discriminatedUnion("op", [
  z.object({ op: z.literal("ready") }),
  z.object({ op: z.literal("done") }),
  /** A caller's file cannot be used. The message is for the caller, the reason for the log. */
  z.object({ op: z.literal("unusable"), message: z.string(), reason: z.string() }),
  /** The job failed for an internal reason, which is for the log. */
  z.object({ op: z.literal("failed"), reason: z.string() }),
]);
/** The child sends `ready`, receives its request as JSON, and sends one reply. */
export type RenderReply = z.output<typeof renderReply>;

/** `died`: the child ended by itself, for example because a decoder crashed. */
type Ending = "deadline" | "aborted" | "memory" | "died";
type Outcome =
  | Exclude<RenderReply, { op: "ready" }>
  | { readonly op: "ended"; readonly reason: Ending };

export interface Job {
  readonly request: RenderRequest;
  /** The folder that the child may write to, which is also its working directory. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The strongest that the host supports by default. */
  readonly isolation?: Isolation | undefined;
}

/** Bounds V8's heap. Pictures are outside the heap and are bounded by the resident size. */
const MAX_HEAP_MIB = 512;
const MAX_RESIDENT_BYTES = 2.5 * 1024 ** 3;
const MEMORY_CHECK_INTERVAL_MS = 250;

/** Uses the codecs of the package, because the system's own may be of any version. */
const env = {
  NODE_WEBCODECS_FORCE: "static",
  PATH: LAUNCHER_PATH,
} as unknown as NodeJS.ProcessEnv;

/** Disables core files, and bounds the CPU seconds of a stuck child whose server was killed. */
const LAUNCH_SCRIPT = 'ulimit -c 0; ulimit -t 1200; exec nice -n "$@"';
/** Gives the server priority over its renderings. */
const NICENESS = "5";

const program = () =>
  findProgram("packages/media/src/adapters/embedded/render/main", ["packages/media/src"]);

/** Returns whether everything is installed that renders images, or videos too: deployments may leave it out. */
export function canRender(kind: "images" | "videos"): boolean {
  const packages = kind === "images" ? ["sharp"] : ["sharp", "node-webcodecs"];
  const paths = packages.map((name) => runtimePath(process.cwd(), "node_modules", name));
  return [program().path, ...paths].every((path) => existsSync(path));
}

export interface RenderSettings {
  /** The queue in which orders wait for a slot. */
  readonly queue: FairQueue;
  /** Milliseconds that one order may take, not counting its wait in the queue. */
  readonly timeoutMs?: number;
  /** Receives the cause of a failed order, for the operator's log only. */
  readonly report?: (cause: string) => void;
  /** How renderings are isolated; the strongest that the host supports by default. */
  readonly isolation?: Isolation;
}

/**
 * Renders or edits media: writes the files of a request into the folder, or none. After `signal` is aborted, a
 * result or an error is meaningless.
 */
export async function render(
  accountId: string,
  request: RenderRequest,
  workFolder: string,
  signal: AbortSignal,
  settings: RenderSettings,
): Promise<readonly GeneratedFile[] | AppError> {
  // One minute of lipsync in 4k takes several minutes on two processors.
  const { queue, timeoutMs = 600_000, isolation } = settings;
  const { report = (cause) => log().warn({ cause }, "Rendering failed") } = settings;
  const folder = realpathSync(workFolder);
  const kind = request.op === "image" ? "image" : "video";
  const contentType = kind === "video" ? "video/mp4" : "image/png";
  const job = { request, folder, timeoutMs, isolation, signal };
  try {
    const outcome = await queue.run(accountId, signal, () => runJob(job));
    const paths = namesOf(request).map((name) => runtimePath(folder, name));
    if (outcome.op === "done") return paths.map((path) => ({ path, contentType }));
    for (const path of paths) await rm(path, { force: true });
    report(`${request.op}: ${outcome.op}: ${outcome.reason}`);
    if (outcome.op === "unusable") return appError("invalid_request", outcome.message);
    const failed = generationFailed(kind);
    return outcome.reason === "deadline" ? { ...failed, code: "upstream_timeout" } : failed;
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    if (signal.aborted) return generationFailed(kind);
    throw error;
  }
}

/** Runs the job. Resolves when its child has ended. */
export async function runJob(job: Job): Promise<Outcome> {
  const { isolation = isolationOfHost() } = job;
  const folder = realpathSync(job.folder);
  /** Where the child reads each input. */
  const inputs = new Map<string, string>();
  mapFiles(job.request, ({ path }) => {
    const real = realpathSync(path);
    inputs.set(real, real);
    return {};
  });
  if (isolation.kind !== "user") return runChild({ ...job, folder }, isolation, inputs);
  // The other user may not pass through the folders of the inputs. It may read the links, but not list them.
  const links = await mkdtemp(runtimePath(folder, "inputs-"));
  try {
    await chmod(links, 0o711);
    for (const [at, input] of [...inputs.keys()].entries()) {
      const path = runtimePath(links, `${at}-${basename(input)}`);
      // The inputs may be on another file system, or on one without links.
      await link(input, path).catch(() => copyFile(input, path));
      await chmod(path, 0o644);
      inputs.set(input, path);
    }
    await chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    return await runChild({ ...job, folder }, isolation, inputs);
  } finally {
    await rm(links, { recursive: true, force: true });
  }
}

/** Returns JSON in which each file is replaced. */
export const mapFiles = (value: object, change: (file: MediaFile) => object): string =>
  JSON.stringify(value, (key, part) => {
    // A template's free form, which is not rendered and could look like a file.
    if (key === "styleRules") return undefined;
    return isMediaFile(part) ? change(part) : part;
  });

const isMediaFile = (value: unknown): value is MediaFile =>
  typeof value === "object" && value !== null && "path" in value && "contentType" in value;

function runChild(
  { request, folder, timeoutMs, signal }: Job,
  isolation: Isolation,
  inputs: ReadonlyMap<string, string>,
): Promise<Outcome> | Outcome {
  if (signal.aborted) return { op: "ended", reason: "aborted" };
  // Relative, because the child's user may not pass through the folders above, which belong to the server.
  const message = mapFiles({ ...request, names: namesOf(request) }, ({ path }) => {
    const real = realpathSync(path);
    return { path: relative(folder, inputs.get(real) ?? real) };
  });
  const view = viewOf({ inputs: [...inputs.values()], folder });
  const argv = [
    process.execPath,
    "--permission",
    "--allow-addons",
    ...view.read.map((path) => `--allow-fs-read=${path}`),
    // The content of the folder. Node detects a folder by itself only if the child's user can read it.
    ...view.write.map((path) => `--allow-fs-write=${runtimePath(path, "*")}`),
    `--max-old-space-size=${MAX_HEAP_MIB}`,
    "--disallow-code-generation-from-strings",
    "--no-warnings",
    program().path,
  ];
  const confined = confine(argv, view, isolation);
  const child = spawn("/bin/sh", ["-c", LAUNCH_SCRIPT, "sh", NICENESS, ...confined], {
    cwd: view.cwd,
    env,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    // In its own process group, for `killGroup`.
    detached: true,
  });
  return new Promise((resolve) => {
    let outcome: Outcome = { op: "ended", reason: "died" };
    const end = (reason: Ending) => {
      outcome = { op: "ended", reason };
      killGroup(child.pid);
    };
    const abort = () => end("aborted");
    const deadline = setTimeout(() => end("deadline"), timeoutMs);
    const watch = setInterval(async () => {
      // Without /proc, only the heap limit applies.
      if ((await residentBytes(child.pid)) > MAX_RESIDENT_BYTES) end("memory");
    }, MEMORY_CHECK_INTERVAL_MS);
    signal.addEventListener("abort", abort, { once: true });
    child.on("message", (received) => {
      const reply = renderReply.safeParse(received).data;
      if (reply?.op === "ready") child.send(message, () => {});
      else if (reply && outcome.op === "ended" && outcome.reason === "died") outcome = reply;
    });
    const finish = () => {
      clearTimeout(deadline);
      clearInterval(watch);
      signal.removeEventListener("abort", abort);
      // Not earlier: until the channel is closed, the child may still write to the folder.
      resolve(outcome);
    };
    child.once("error", finish);
    // Not "exit", because the spawned shell may end before the confined program that it started.
    child.once("close", finish);
  });
}

/** Returns the paths that the child may access, for both Node's permission model and the kernel. */
export function viewOf(job: { readonly inputs: readonly string[]; readonly folder: string }): View {
  const root = realpathSync(process.cwd());
  const read = [
    ...program().code,
    runtimePath(root, "package.json"),
    // Both the link and its target: modules are resolved by the one and loaded from the other.
    runtimePath(root, "node_modules"),
    realpathSync(runtimePath(root, "node_modules")),
    // The codec package reads this file to detect the C library.
    "/etc/alpine-release",
    ...job.inputs,
  ];
  return { read, write: [job.folder], cwd: job.folder, network: false };
}
