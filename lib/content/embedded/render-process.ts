/**
 * One job in a child process of its own: `node --permission` with an empty environment that may
 * read its own code and the job's inputs, and write the job's folder. What is opened there comes
 * from strangers: a decoder that crashes, hangs or takes all memory takes only this child with it.
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
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
}

/** V8's heap; pictures lie outside it and are bounded by the resident size. */
const HEAP_MIB = 512;
const MAX_RESIDENT_BYTES = 2.5 * 1024 ** 3;
const MEMORY_CHECK_MS = 250;
const PAGE_BYTES = 4096;

/** The codecs that come with the package: a system's own may be of any version. */
const env = { NODE_WEBCODECS_FORCE: "static" } as unknown as NodeJS.ProcessEnv;

/** No core files, and an end for a child whose server was killed while it was stuck. */
const LAUNCH = 'ulimit -c 0; ulimit -t 1200; exec nice -n "$@"';
/** A probe is waited for in a request; a rendering must not keep the server from answering others. */
const niceness = { probe: "0", images: "5", video: "5" } as const;

export function runJob({ request, inputs, folder, timeoutMs, signal }: Job): Promise<Outcome> {
  if (signal.aborted) return Promise.resolve({ op: "ended", why: "aborted" });
  // Not import.meta.url: the server is bundled, the child's code is not.
  const root = realpathSync(process.cwd());
  const code = join(root, "lib", "content");
  const readable = [
    code,
    join(root, "package.json"),
    // Both, where one is a link to the other: modules are looked up here and loaded there.
    join(root, "node_modules"),
    realpathSync(join(root, "node_modules")),
    // The loader of the codecs asks which C library this is.
    "/etc/alpine-release",
    ...inputs,
  ];
  const argv = [
    process.execPath,
    "--permission",
    "--allow-addons",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...(folder ? [`--allow-fs-write=${folder}`] : []),
    `--max-old-space-size=${HEAP_MIB}`,
    "--disallow-code-generation-from-strings",
    "--no-warnings",
    join(code, "embedded", "render", "main.ts"),
  ];
  const child = spawn("/bin/sh", ["-c", LAUNCH, "sh", niceness[request.op], ...argv], {
    cwd: root,
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
      const statm = await readFile(`/proc/${child.pid}/statm`, "utf8").catch(() => "");
      const resident = Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
      if (resident > MAX_RESIDENT_BYTES) end("memory");
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
      // Only now: nothing of it writes into the folder any more.
      resolve(outcome);
    };
    child.once("error", settle);
    child.once("exit", settle);
  });
}
