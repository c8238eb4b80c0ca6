/**
 * The command `python3`: the CPython of just-bash in WebAssembly, on the jail's own thread. just-bash runs
 * it in a worker thread, which Node's permission model would not confine.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { type Command, type CommandContext, defineCommand, type ExecResult } from "just-bash";
import { DeadlineError, TERMINATED, type Watchdog, watchdogOfCommand } from "../deadlines.ts";
import { type LiveStreams, liveStreams } from "../live-output.ts";
import type { SessionDisks } from "../session-disk.ts";
import { type EmscriptenFs, type Imports, limitMemory, makeReadOnly } from "./emscripten.ts";
import { mountDisk } from "./mount-disk.ts";
import { connectStreams, OutputBuffer, OutputLimitError } from "./streams.ts";
import { TIME_ZONES } from "./time-zones.ts";

const VENDOR = join(
  dirname(fileURLToPath(import.meta.resolve("just-bash"))),
  "../../vendor/cpython-emscripten",
);
const ZIP = "/usr/lib/python313.zip";
const OPENPYXL_ZIP = "/usr/lib/openpyxl.zip";
const ZONES_ZIP = "/usr/lib/tzdata.zip";
const LIB = "/usr/lib/python3.13";
const EXECUTABLE = "/usr/bin/python3";
/** More is a MemoryError. The jail's resident memory is limited to twice as much. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
const MAX_STDERR_BYTES = 1024 * 1024;
/** The arguments are on the stack. */
const MAX_ARGS_CHARS = 1024 * 1024;
const STACK_BYTES = 8 * 1024 * 1024;
/** The status of a program that `abort` has ended. */
const ABORTED = 134;
/** Negative numbers are errors of Linux's system calls in Emscripten, positive ones errors of WASI. */
const ENOSYS = 52;
const EAI_FAIL = -4;

interface PythonModule {
  readonly FS: EmscriptenFs;
  readonly ENV: Record<string, string | undefined>;
  callMain(args: string[]): number;
}

interface StackExports {
  malloc(bytes: number): number;
  _emscripten_stack_restore(top: number): void;
}

type CreateModule = (options: {
  noInitialRun: true;
  thisProgram: string;
  preRun: (module: PythonModule) => void;
  print: (text: string) => void;
  printErr: (text: string) => void;
  instantiateWasm: (imports: Imports, receive: (instance: WebAssembly.Instance) => void) => void;
}) => Promise<PythonModule>;

interface Loaded {
  readonly createModule: CreateModule;
  readonly code: WebAssembly.Module;
  readonly library: Uint8Array;
  readonly openpyxl: Uint8Array;
  readonly zones: Uint8Array;
}

let loaded: Loaded | undefined;

function load(): Loaded {
  loaded ??= {
    createModule: createRequire(import.meta.url)(join(VENDOR, "python.cjs")),
    code: new WebAssembly.Module(readFileSync(join(VENDOR, "python.wasm"))),
    library: readFileSync(join(VENDOR, "python313.zip")),
    openpyxl: readFileSync(new URL("openpyxl.zip", import.meta.url)),
    zones: brotliDecompressSync(Buffer.from(TIME_ZONES, "base64")),
  };
  return loaded;
}

/** @param disks the folders that it sees, by path */
export function pythonCommand(
  name: string,
  disks: SessionDisks,
  outside: <T>(work: () => T) => T,
): Command {
  return defineCommand(name, async (args, context) => {
    const substituted = await substitutedFiles(args, context);
    const live = liveStreams();
    const watchdog = watchdogOfCommand();
    const result = await outside(() =>
      runPython(args, context, disks, substituted, live, watchdog),
    );
    await outside(freeMemory);
    return result;
  });
}

/** Frees the memory of a program whose last callback has returned, or several would add up. */
async function freeMemory(): Promise<void> {
  await setImmediate();
  globalThis.gc?.();
}

async function runPython(
  args: readonly string[],
  context: CommandContext,
  disks: SessionDisks,
  substituted: ReadonlyMap<string, Uint8Array>,
  live: LiveStreams,
  watchdog: Watchdog,
): Promise<ExecResult> {
  if (args.join("\0").length > MAX_ARGS_CHARS) {
    return { stdout: "", stderr: "bash: python3: Argument list too long\n", exitCode: 126 };
  }
  // The shell refuses the whole result of a command that exceeds its limit.
  const stdout = new OutputBuffer(
    (context.limits?.maxOutputSize ?? 0) - MAX_STDERR_BYTES,
    live.stdout,
  );
  const stderr = new OutputBuffer(MAX_STDERR_BYTES, live.stderr);
  const stdin = Buffer.from(context.stdin as unknown as string, "latin1");
  const { createModule, code, ...archives } = load();
  const closeFiles: (() => void)[] = [];
  const say = (text: string) => stderr.write(Buffer.from(`${text}\n`));
  const { exitCode: own } = process;
  let exports: StackExports | undefined;
  try {
    const python = await createModule({
      noInitialRun: true,
      thisProgram: EXECUTABLE,
      print: say,
      printErr: say,
      instantiateWasm(imports, receive) {
        const instance = new WebAssembly.Instance(code, confine(imports) as WebAssembly.Imports);
        limitMemory(instance.exports.memory as WebAssembly.Memory, MAX_MEMORY_BYTES);
        receive(instance);
        exports = instance.exports as unknown as StackExports;
      },
      preRun({ FS: fs, ENV: env }) {
        Object.assign(env, environmentOf(context));
        connectStreams(fs, { stdin, stdout, stderr });
        installLibrary(fs, archives, live.stdout !== undefined);
        for (const [path, disk] of disks.byPath) {
          fs.mkdirTree(path);
          closeFiles.push(mountDisk(fs, disk, path));
        }
        for (const [path, content] of substituted) {
          fs.mkdirTree(dirname(path));
          fs.writeFile(path, content);
        }
        makeReadOnly(fs, ZIP);
      },
    });
    enter(python.FS, context.cwd);
    if (exports) enlargeStack(exports);
    const exitCode = watchdog(() => python.callMain([...args]));
    return resultOf(stdout, stderr, exitCode);
  } catch (error) {
    if (error instanceof OutputLimitError) {
      return resultOf(stdout, stderr, 1, `python3: ${error.message}\n`);
    }
    if (error instanceof DeadlineError) return resultOf(stdout, stderr, TERMINATED);
    if (error instanceof RangeError) {
      return resultOf(stdout, stderr, ABORTED, "Fatal Python error: the stack overflowed\n");
    }
    if (error instanceof WebAssembly.RuntimeError) {
      // `abort` has printed a message itself.
      const hasMessage = error.message.startsWith("Aborted(");
      const note = hasMessage ? "" : `Fatal Python error: ${error.message}\n`;
      return resultOf(stdout, stderr, ABORTED, note);
    }
    throw error;
  } finally {
    for (const close of closeFiles) close();
    process.exitCode = own;
  }
}

/** Takes sockets, pipes and timers away, which Emscripten implements with Node's. */
function confine({ env, ...others }: Imports): Imports {
  const refused = Object.fromEntries(REFUSED.map((name) => [name, () => -ENOSYS]));
  const confined = { ...env, ...refused, getaddrinfo: () => EAI_FAIL };
  return { ...others, env: confined };
}

const REFUSED = [
  ...["socket", "connect", "bind", "listen", "accept4", "getsockname", "getpeername"].map(syscall),
  ...["getsockopt", "sendto", "sendmsg", "recvfrom", "recvmsg", "pipe"].map(syscall),
  ...["_emscripten_lookup_name", "_emscripten_system", "_setitimer_js"],
];

function syscall(name: string): string {
  return `__syscall_${name}`;
}

/** Returns the files that the shell made for arguments of the form `<(command)`. */
async function substitutedFiles(args: readonly string[], { fs }: CommandContext) {
  const files = new Map<string, Uint8Array>();
  for (const arg of args) {
    if (/^\/dev\/fd\/\d+$/.test(arg)) files.set(arg, await fs.readFileBuffer(arg));
  }
  return files;
}

function environmentOf({ exportedEnv, cwd }: CommandContext): Record<string, string | undefined> {
  return {
    // Emscripten's default, which a value of undefined removes.
    LOGNAME: undefined,
    // Caches would be listed among the session's files and count toward its quota.
    PYTHONDONTWRITEBYTECODE: "1",
    ...exportedEnv,
    PWD: cwd,
    _: EXECUTABLE,
  };
}

/** Writes the files by which CPython finds its library, and the modules that explain missing ones. */
function installLibrary(
  fs: EmscriptenFs,
  { library, openpyxl, zones }: Omit<Loaded, "createModule" | "code">,
  isLive: boolean,
): void {
  fs.rmdir("/home/web_user");
  for (const terminal of ["tty", "tty1"]) fs.unlink(`/dev/${terminal}`);
  fs.mkdirTree(dirname(EXECUTABLE));
  fs.mkdirTree(`${LIB}/lib-dynload`);
  fs.writeFile(EXECUTABLE, "", { mode: 0o755 });
  fs.writeFile(ZIP, library, { canOwn: true });
  fs.writeFile(OPENPYXL_ZIP, openpyxl, { canOwn: true });
  fs.writeFile(ZONES_ZIP, zones, { canOwn: true });
  fs.writeFile(`${LIB}/os.py`, "");
  fs.writeFile(`${LIB}/sitecustomize.py`, isLive ? SITE + LIVE_SITE : SITE);
  fs.writeFile(`${LIB}/_sqlite3.py`, NO_SQLITE);
  fs.writeFile(`${LIB}/_sysconfigdata__emscripten_wasm32-emscripten.py`, "build_time_vars = {}\n");
}

const SITE = `
import _socket, errno, os, sys

sys.path.append("${ZONES_ZIP}")

def _refuse(message):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENOTSUP, message)
    return refuse

_network = _refuse("Python has no network in this sandbox: use curl")

class _Socket(_socket.socket):
    __slots__ = ()
    __init__ = _network

_socket.socket = _socket.SocketType = _Socket
_socket.getaddrinfo = _socket.gethostbyname = _socket.gethostbyname_ex = _network
_socket.socketpair = _network
os.system = _refuse("Python cannot start programs in this sandbox")
sys.path.append("${OPENPYXL_ZIP}")
`;

/** Otherwise its lines would be shown at its end, because it does not write to a terminal. */
const LIVE_SITE = "import sys\nsys.stdout.reconfigure(line_buffering=True)\n";

const NO_SQLITE =
  'raise ImportError("Python has no SQLite in this sandbox: use the command sqlite3")\n';

/** CPython's own limits of recursion are for more than the stack that it was linked with. */
function enlargeStack({ malloc, _emscripten_stack_restore }: StackExports): void {
  _emscripten_stack_restore(malloc(STACK_BYTES) + STACK_BYTES);
}

function enter(fs: EmscriptenFs, cwd: string): void {
  try {
    fs.chdir(cwd);
  } catch {
    // A folder that only the shell has.
    fs.chdir("/");
  }
}

function resultOf(
  stdout: OutputBuffer,
  stderr: OutputBuffer,
  exitCode: number,
  note = "",
): ExecResult {
  return {
    stdout: stdout.bytes.toString("latin1"),
    stdoutKind: "bytes",
    stderr: stderr.bytes.toString() + note,
    // As the kernel passes it on.
    exitCode: exitCode & 0xff,
  };
}
