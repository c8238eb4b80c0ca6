/**
 * The output of the shell's commands while a script runs. just-bash returns output only when the whole script has
 * ended, so the methods of its interpreter are observed: the output that a command returns is shown at once, unless
 * it is redirected, piped or substituted. Results and errors of the methods stay the same, so no script can notice.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  Bash,
  type CommandNode,
  type ExecResult,
  type PipelineNode,
  type ScriptNode,
} from "just-bash";
import { checkDeadlines } from "./deadlines.ts";
import { keepBytes, shownText } from "./kept-bytes.ts";
import { commandNameOf, correctInterpreter } from "./shell-corrections.ts";

type Stream = "stdout" | "stderr";
type Send = (stream: Stream, text: string) => void;

/** More pieces in a second are joined, unless they are long. */
const MAX_PIECES_PER_SECOND = 20;
const LONG_PIECE_CHARS = 1_000;
/** Programs that run scripts or commands, whose output they return as it is. */
const RUNNERS = /^(\.|source|eval|bash|sh|.*\/.*)$/;
/** The shell's maximum for a command. */
const MAX_OWN_CHARS = 32 * 1024 * 1024;

/** The destination of the running command's output. None where its output does not reach the user. */
interface View {
  readonly screen: Screen;
  /** False where stderr is redirected. */
  readonly hasStderr: boolean;
  /** Whether the output of a script that the command runs is shown too. */
  readonly showsScripts: boolean;
}

const views = new AsyncLocalStorage<View | undefined>();
// The shell restricts timers and the process inside a command.
const outsideCommands = AsyncLocalStorage.snapshot();

/** The output of one script. */
class Screen {
  readonly shown = { stdout: "", stderr: "" };
  readonly #pending = { stdout: "", stderr: "" };
  /** Whether `exec` has redirected the shell's output, which the results of programs do not show. */
  isRedirected = false;
  #maxChars: number;
  readonly #send: Send;
  #second = 0;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxChars: number, send: Send) {
    this.#maxChars = maxChars;
    this.#send = send;
  }

  show(stream: Stream, text: string): void {
    const room = this.#maxChars - this.shown[stream].length;
    const kept = room > 0 ? text.slice(0, room) : "";
    if (kept === "") return;
    this.shown[stream] += kept;
    this.#pending[stream] += kept;
    outsideCommands(() => {
      const now = performance.now();
      if (now - this.#second > 1_000) {
        this.#second = now;
        this.#sent = 0;
      }
      const isLong = this.#pending[stream].length >= LONG_PIECE_CHARS;
      // Not always by the timer: a program may block the thread until it is killed.
      if (isLong || this.#sent < MAX_PIECES_PER_SECOND) this.flush();
      else this.#timer ??= setTimeout(() => this.flush(), 1_000);
    });
  }

  /** Shows a result without the part that was shown since `before`: its start, or its end after a trace. */
  showRest(stream: Stream, text: string, before: number): void {
    const shown = this.shown[stream];
    const known = shown.length > before ? shown.slice(before) : "";
    if (text.startsWith(known)) this.show(stream, text.slice(known.length));
    else if (text.endsWith(known)) this.show(stream, text.slice(0, -known.length));
  }

  /** Later output of a program is not shown, because the next script may be running. */
  end(): void {
    this.flush();
    this.#maxChars = 0;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sent += 1;
    for (const stream of ["stdout", "stderr"] as const) {
      const text = this.#pending[stream];
      this.#pending[stream] = "";
      if (text !== "") this.#send(stream, text);
    }
  }
}

/**
 * Runs a script of the shell, and sends its output while it runs.
 * @param maxChars the limit of stdout and of stderr
 */
export async function withLiveOutput<Result>(
  maxChars: number,
  send: Send,
  run: () => Promise<Result>,
): Promise<Result> {
  isObserved ??= observeInterpreter();
  await isObserved;
  const screen = new Screen(maxChars, send);
  try {
    return await views.run({ screen, hasStderr: true, showsScripts: true }, run);
  } finally {
    screen.end();
  }
}

/**
 * Runs a script of a command, and resolves with its result and its output, which the shell drops if the script is
 * stopped. It is shown at once unless the output of the command is redirected.
 */
export async function withOwnOutput<Result>(run: () => Promise<Result>) {
  const outer = views.getStore();
  const screen = new Screen(MAX_OWN_CHARS, (stream, text) => {
    if (!outer || outer.screen.isRedirected) return;
    if (stream === "stdout" || outer.hasStderr) outer.screen.show(stream, text);
  });
  try {
    const result = await views.run({ screen, hasStderr: true, showsScripts: true }, run);
    return { result, printed: screen.shown };
  } finally {
    screen.end();
  }
}

export type LiveStreams = { readonly [stream in Stream]?: (bytes: Uint8Array) => void };

/** Returns the streams of the running command that reach the user, for programs that write piece by piece. */
export function liveStreams(): LiveStreams {
  const view = views.getStore();
  if (!view || view.screen.isRedirected) return {};
  const writer = (stream: Stream) => {
    const decoder = new TextDecoder();
    return (bytes: Uint8Array) => view.screen.show(stream, decoder.decode(bytes, { stream: true }));
  };
  return { stdout: writer("stdout"), ...(view.hasStderr && { stderr: writer("stderr") }) };
}

let isObserved: Promise<void> | undefined;

/** Finds the interpreter's class, which binds its methods to each instance, and observes its methods. */
async function observeInterpreter(): Promise<void> {
  const { bind } = Function.prototype;
  let found: object | undefined;
  Function.prototype.bind = function (this: CallableFunction, self: object, ...args: unknown[]) {
    if (this.name === "executeScript") found ??= Object.getPrototypeOf(self);
    return bind.call(this, self, ...args);
  };
  const ended = new Bash({ commands: [] }).exec(":");
  Function.prototype.bind = bind;
  await ended;
  if (!found) return;
  correctInterpreter(found, (run) => views.run(undefined, run));
  observe(found, "executeScript", observeScript);
  observe(found, "executePipeline", observePipeline);
  observe(found, "executeCommand", observeCommand);
}

type Run = () => Promise<ExecResult>;
type Observer<Node> = (view: View, node: Node, run: Run) => Promise<ExecResult>;

function observe<Node>(prototype: object, name: string, observer: Observer<Node>): void {
  const method = Reflect.get(prototype, name);
  Reflect.set(prototype, name, function (this: unknown, node: Node, ...rest: unknown[]) {
    checkDeadlines();
    const view = views.getStore();
    if (!view) return method.call(this, node, ...rest);
    return observer(view, node, () => method.call(this, node, ...rest));
  });
}

/** Substitutions are scripts too. */
async function observeScript(view: View, _: ScriptNode, run: Run): Promise<ExecResult> {
  return views.run(view.showsScripts ? { ...view, showsScripts: false } : undefined, run);
}

/** Commands whose stdout is piped to another one, and whether their stderr is too. */
const piped = new WeakMap<CommandNode, boolean>();
/** Bodies of functions that are defined with a redirection. */
const redirectedBodies = new WeakSet<CommandNode>();

async function observePipeline(view: View, node: PipelineNode, run: Run): Promise<ExecResult> {
  for (const [index, command] of node.commands.slice(0, -1).entries()) {
    piped.set(command, node.pipeStderr?.[index] === true);
  }
  const { stdout, stderr } = view.screen.shown;
  const result = await run();
  view.screen.showRest("stdout", textOf(result), stdout.length);
  if (view.hasStderr) view.screen.showRest("stderr", result.stderr, stderr.length);
  return result;
}

async function observeCommand(view: View, node: CommandNode, run: Run): Promise<ExecResult> {
  const isStderrPiped = piped.get(node);
  if (isStderrPiped !== undefined) {
    const result = await views.run(undefined, run);
    if (view.hasStderr && !isStderrPiped) view.screen.show("stderr", result.stderr);
    return result;
  }
  if (node.type === "FunctionDef") {
    if (node.redirections.length > 0) redirectedBodies.add(node.body);
    return run();
  }
  const outputs = node.redirections.filter(
    ({ fd, operator }) => !operator.startsWith("<") || (fd ?? 0) !== 0,
  );
  if (outputs.length > 0 && commandNameOf(node) === "exec") view.screen.isRedirected = true;
  const hidesStdout = outputs.some(({ fd, operator }) => fd !== 2 || operator.startsWith("&"));
  if (hidesStdout || redirectedBodies.has(node)) return views.run(undefined, run);
  const hasStderr = view.hasStderr && outputs.length === 0;
  return views.run({ ...view, hasStderr, showsScripts: runsScript(node, view.screen) }, run);
}

const textOf = (result: ExecResult): string => shownText(keepBytes(result).stdout);

/** Whether all scripts that the command runs are ones whose output it returns. */
function runsScript(node: CommandNode, { isRedirected }: Screen): boolean {
  if (isRedirected || !RUNNERS.test(commandNameOf(node))) return false;
  return !/"(Arith)?(Command|Process)Subst|"parameter":"[^"]*\[/.test(JSON.stringify(node));
}
