/**
 * Runs one job in its own child process: `node --permission` with an empty environment, which may
 * read its code and the job's inputs and write the job's folder. The inputs are untrusted: a decoder
 * that crashes, hangs or exhausts memory affects only this child. Node's permission model does not
 * bind native code, so the kernel enforces the same limits and removes network access where the host
 * supports it (`lib/platform/isolation`).
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { chown, rm } from "node:fs/promises";
import { killGroup, residentBytes } from "../../../platform/isolation/child-process.ts";
import {
  confine,
  type Isolation,
  isolation as isolationOfHost,
  LAUNCHER_PATH,
  UNPRIVILEGED_ID,
  type View,
} from "../../../platform/isolation/isolation.ts";
import { runtimePath } from "../../../platform/runtime-path.ts";
import { lendInputs } from "./lend-inputs.ts";
import { type RenderReply, type RenderRequest, renderReply } from "./protocol.ts";
import { withRelativePaths } from "./relative-paths.ts";
import { rendererProgram } from "./renderer.ts";

export type Outcome =
  | Exclude<RenderReply, { op: "ready" }>
  /** `died`: the child ended by itself, for example because a decoder crashed. */
  | { readonly op: "ended"; readonly why: "deadline" | "aborted" | "memory" | "died" };

export interface Job {
  readonly request: RenderRequest;
  /** The files that the child may read. */
  readonly inputs: readonly string[];
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

export async function runJob(job: Job): Promise<Outcome> {
  const { folder, inputs, isolation = isolationOfHost() } = job;
  if (isolation.kind !== "user") return runChild(job, isolation, new Map());
  const lent = await lendInputs(folder, inputs);
  try {
    await chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    return await runChild(job, isolation, lent.paths);
  } finally {
    await rm(lent.folder, { recursive: true, force: true });
  }
}

/** @param lent where the child reads an input, if not at the input's own path */
function runChild(
  { folder, inputs, timeoutMs, signal, ...job }: Job,
  isolation: Isolation,
  lent: ReadonlyMap<string, string>,
): Promise<Outcome> | Outcome {
  if (signal.aborted) return { op: "ended", why: "aborted" };
  const request = withRelativePaths(job.request, folder, lent);
  const view = viewOf({ inputs: inputs.map((input) => lent.get(input) ?? input), folder });
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
    rendererProgram(realpathSync(process.cwd())),
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
    let outcome: Outcome = { op: "ended", why: "died" };
    const end = (why: "deadline" | "aborted" | "memory") => {
      outcome = { op: "ended", why };
      killGroup(child.pid);
    };
    const abort = () => end("aborted");
    const deadline = setTimeout(() => end("deadline"), timeoutMs);
    const watch = setInterval(async () => {
      // Without /proc, only the heap limit applies.
      if ((await residentBytes(child.pid)) > MAX_RESIDENT_BYTES) end("memory");
    }, MEMORY_CHECK_INTERVAL_MS);
    signal.addEventListener("abort", abort, { once: true });
    child.on("message", (message) => {
      const reply = renderReply.safeParse(message).data;
      if (reply?.op === "ready") child.send(request, () => {});
      else if (reply && outcome.op === "ended" && outcome.why === "died") outcome = reply;
    });
    const settle = () => {
      clearTimeout(deadline);
      clearInterval(watch);
      signal.removeEventListener("abort", abort);
      // Not earlier: until the channel is closed, the child may still write to the folder.
      resolve(outcome);
    };
    child.once("error", settle);
    // Not "exit", because the spawned shell may end before the confined program that it started.
    child.once("close", settle);
  });
}

/** Returns the paths that the child may access, for both Node's permission model and the kernel. */
export function viewOf({ inputs, folder }: Pick<Job, "inputs" | "folder">): View {
  // Not import.meta.url, because the server is bundled and the child's code is not.
  const root = realpathSync(process.cwd());
  const read = [
    runtimePath(root, "lib", "content"),
    runtimePath(root, "package.json"),
    // Both the link and its target: modules are resolved by the one and loaded from the other.
    runtimePath(root, "node_modules"),
    realpathSync(runtimePath(root, "node_modules")),
    // The codec package reads this file to detect the C library.
    "/etc/alpine-release",
    ...inputs,
  ];
  return { read, write: [folder], cwd: folder, network: false };
}
