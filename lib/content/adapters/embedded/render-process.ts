/**
 * One job in a child process of its own: `node --permission` with an empty environment that may
 * read its own code and the job's inputs, and write the job's folder. What is opened there comes
 * from strangers: a decoder that crashes, hangs or takes all memory takes only this child with it.
 * The permission model does not hold native code, so the kernel sets the same limits again, and
 * takes the network away, where the host allows it (`lib/isolation`).
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { dirname, join } from "node:path";
import { confine, UNPRIVILEGED_ID, type View } from "../../../platform/isolation/confine.ts";
import { isolation as isolationOfHost } from "../../../platform/isolation/detect.ts";
import type { Isolation } from "../../../platform/isolation/isolation.ts";
import { residentBytes } from "../../../platform/isolation/resident-bytes.ts";
import { type RenderReply, type RenderRequest, renderReply } from "./protocol.ts";

export type Outcome =
  | Exclude<RenderReply, { op: "ready" }>
  /** `died`: by itself, as by a crash in a decoder. */
  | { readonly op: "ended"; readonly why: "deadline" | "aborted" | "memory" | "died" };

export interface Job {
  readonly request: RenderRequest;
  /** Files that may be read. */
  readonly inputs: readonly string[];
  /** The folder that may be written. */
  readonly folder: string | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The host's when omitted. */
  readonly isolation?: Isolation | undefined;
}

/** V8's heap; pictures lie outside it and are bounded by the resident size. */
const HEAP_MIB = 512;
const MAX_RESIDENT_BYTES = 2.5 * 1024 ** 3;
const MEMORY_CHECK_MS = 250;

/** The codecs that come with the package: a system's own may be of any version. */
const env = { NODE_WEBCODECS_FORCE: "static" } as unknown as NodeJS.ProcessEnv;

/** No core files, and an end for a child whose server was killed while it was stuck. */
const LAUNCH = 'ulimit -c 0; ulimit -t 1200; exec nice -n "$@"';
/** A rendering must not keep the server from answering requests. */
const NICENESS = "5";

export async function runJob(job: Job): Promise<Outcome> {
  const { request, timeoutMs, signal, isolation = isolationOfHost() } = job;
  if (isolation.kind === "user") await handOver(job);
  if (signal.aborted) return { op: "ended", why: "aborted" };
  const view = viewOf(job);
  const argv = [
    process.execPath,
    "--permission",
    "--allow-addons",
    ...view.read.map((path) => `--allow-fs-read=${path}`),
    ...view.write.map((path) => `--allow-fs-write=${path}`),
    `--max-old-space-size=${HEAP_MIB}`,
    "--disallow-code-generation-from-strings",
    "--no-warnings",
    join(view.cwd, "lib", "content", "adapters", "embedded", "render", "main.ts"),
  ];
  const confined = confine(argv, view, isolation);
  const child = spawn("/bin/sh", ["-c", LAUNCH, "sh", NICENESS, ...confined], {
    cwd: view.cwd,
    env,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  return new Promise((resolve) => {
    let outcome: Outcome = { op: "ended", why: "died" };
    const end = (why: "deadline" | "aborted" | "memory") => {
      outcome = { op: "ended", why };
      child.kill("SIGKILL");
    };
    const abort = () => end("aborted");
    const deadline = setTimeout(() => end("deadline"), timeoutMs);
    const watch = setInterval(async () => {
      // Where there is no /proc, the heap limit stands alone.
      if ((await residentBytes(child.pid)) > MAX_RESIDENT_BYTES) end("memory");
    }, MEMORY_CHECK_MS);
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
      // Only now: nothing of it holds the channel, so nothing of it writes into the folder any more.
      resolve(outcome);
    };
    child.once("error", settle);
    // Not "exit": what was spawned may end before the confined program that it started.
    child.once("close", settle);
  });
}

/** The same for Node's permission model and for the kernel. */
export function viewOf({ inputs, folder }: Pick<Job, "inputs" | "folder">): View {
  // Not import.meta.url: the server is bundled, the child's code is not.
  const root = realpathSync(process.cwd());
  const read = [
    join(root, "lib", "content"),
    join(root, "package.json"),
    // Both, where one is a link to the other: modules are looked up here and loaded there.
    join(root, "node_modules"),
    realpathSync(join(root, "node_modules")),
    // The loader of the codecs asks which C library this is.
    "/etc/alpine-release",
    ...inputs,
  ];
  return { read, write: folder ? [folder] : [], cwd: root, network: false };
}

/** Lets another user read the inputs, by their names only, and write the folder. */
async function handOver({ inputs, folder }: Job): Promise<void> {
  for (const input of inputs) {
    await chmod(dirname(input), 0o711);
    await chmod(input, 0o644);
  }
  if (folder) await chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
}
