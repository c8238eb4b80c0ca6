/**
 * Corrections of just-bash's interpreter, where it would lose data or end a script that bash continues: patterns with a
 * slash at the end match folders alone, a redirection that fails ends its command alone, `set -u` accepts `"${x:-}"`,
 * substitutions in arithmetic know the functions of the script, and `trap` exists. This file is long because all of it
 * corrects one interpreter.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Command,
  type CommandNode,
  defineCommand,
  type ExecResult,
  type IFileSystem,
  type PipelineNode,
  parse,
  type ScriptNode,
  type SimpleCommandNode,
  type StatementNode,
  type WordNode,
} from "just-bash";
import { inputOf, keepBytes, restoreBytes, textInput } from "./kept-bytes.ts";

/** The part of just-bash's interpreter that is used here. */
interface Interpreter {
  readonly ctx: {
    readonly fs: IFileSystem;
    execFn: (script: string, ...rest: unknown[]) => Promise<ExecResult>;
    readonly state: {
      readonly cwd: string;
      readonly env: Map<string, string>;
      readonly bashPid: number;
      readonly callDepth: number;
      readonly inCondition: boolean;
      readonly errexitSafe: boolean;
      readonly options: { readonly nounset: boolean };
      readonly shoptOptions: { readonly nullglob: boolean };
      lastExitCode: number;
    };
  };
}

interface Shell {
  readonly interpreter: Interpreter;
  readonly pid: number;
  /** The scripts of `trap` by the name of their signal. */
  readonly traps: Map<string, string>;
  /** Whether its command joins the outputs of scripts as text. */
  readonly joinsText?: boolean;
}

type Method<Node> = (this: Interpreter, node: Node, ...rest: unknown[]) => Promise<ExecResult>;
type RunScript = (script: ScriptNode) => Promise<ExecResult>;
type Part = WordNode["parts"][number];

const shells = new AsyncLocalStorage<Shell>();

/**
 * @param prototype the interpreter's
 * @param hidden runs a script whose output does not reach the user
 */
export function correctInterpreter(
  prototype: object,
  hidden: (run: () => Promise<ExecResult>) => Promise<ExecResult>,
): void {
  const executeScript: Method<ScriptNode> = Reflect.get(prototype, "executeScript");
  const executePipeline: Method<PipelineNode> = Reflect.get(prototype, "executePipeline");
  const executeStatement: Method<StatementNode> = Reflect.get(prototype, "executeStatement");
  const executeCommand: Method<CommandNode> = Reflect.get(prototype, "executeCommand");
  Object.assign(prototype, {
    async executeScript(this: Interpreter, node: ScriptNode) {
      const run: RunScript = (script) => executeScript.call(this, script);
      const pid = this.ctx.state.bashPid;
      const outer = shells.getStore();
      // Otherwise a script of `eval` or `source`.
      if (outer?.interpreter === this && outer.pid === pid) return run(node);
      if (outer?.interpreter !== this) {
        const exec = this.ctx.execFn;
        // Arithmetic alone passes two arguments. Its scripts would run in a shell without functions.
        this.ctx.execFn = (script, ...rest) =>
          rest.length > 1
            ? exec(script, ...rest)
            : hidden(() => run(parse(`printf '%s\\n' "$(\n${script}\n)"`)));
      }
      const shell: Shell = { interpreter: this, pid, traps: new Map() };
      const result = await shells.run(shell, () => runToExit(shell, node, run));
      // A substitution, or the script of the user. Commands such as xargs pass the output of scripts on as bytes.
      const isJoined = !outer || outer.interpreter === this || outer.joinsText;
      return isJoined ? result : restoreBytes(result);
    },
    async executePipeline(this: Interpreter, node: PipelineNode, ...rest: unknown[]) {
      // The interpreter joins outputs as text, and would take bytes that are not UTF-8 for characters.
      return keepBytes(await executePipeline.call(this, node, ...rest));
    },
    async executeStatement(this: Interpreter, node: StatementNode, ...rest: unknown[]) {
      const run: RunScript = (script) => executeScript.call(this, script);
      const error = await executeStatement.call(this, node, ...rest).catch((thrown) => {
        if (nameOf(thrown) === "ErrexitError") return thrown as ExecResult;
        throw thrown;
      });
      await trapError(this, node, error, run);
      if (error instanceof Error) throw error;
      return error;
    },
    async executeCommand(this: Interpreter, node: CommandNode, ...rest: unknown[]) {
      try {
        const corrected = await correctWords(this, node, (script) =>
          hidden(() => executeScript.call(this, script)),
        );
        const name = commandNameOf(corrected);
        const [input, ...others] = rest;
        const isText = !TAKES_BYTES.includes(name);
        // Text keeps its bytes in the low eight bits.
        const stdin =
          typeof input === "string" ? inputOf(Buffer.from(input, "latin1"), isText) : input;
        const run = () =>
          textInput.run(isText, () => executeCommand.call(this, corrected, stdin, ...others));
        const shell = shells.getStore();
        const result =
          name === "find" && shell ? shells.run({ ...shell, joinsText: true }, run) : run();
        return restoreBytes(await result);
      } catch (error) {
        const problem = problemOf(error);
        if (problem === null) throw error;
        return { stdout: "", stderr: `bash: ${problem}\n`, exitCode: 1 };
      }
    },
  });
}

/** Commands that treat the characters of their input as bytes. */
const TAKES_BYTES = ["od", "base64", "file", "tar"];

/** Returns the name of a command that is written as it is; empty for any other. */
export function commandNameOf(node: CommandNode): string {
  const [name, ...others] = (node.type === "SimpleCommand" && node.name?.parts) || [];
  const isPlain = name?.type === "Literal" || name?.type === "SingleQuoted";
  return isPlain && others.length === 0 ? name.value : "";
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EFBIG: "File too large",
  EISDIR: "Is a directory",
  ENOENT: "No such file or directory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  EROFS: "Read-only file system",
};

/** Returns the text of an error of the file system; null for any other error. */
function problemOf(error: unknown): string | null {
  const message = error instanceof Error ? error.message : "";
  const [, code = "", path] = /^(E[A-Z]{3,}): [^']*(?:'([^']*)')?/.exec(message) ?? [];
  if (code === "") return null;
  const problem = PROBLEMS[code] ?? message;
  return path ? `${path}: ${problem}` : problem;
}

/** Runs the script of a shell, and then its trap of EXIT. */
async function runToExit(shell: Shell, node: ScriptNode, run: RunScript): Promise<ExecResult> {
  const exitOf = (error: unknown): ExecResult => {
    if (nameOf(error) !== "ExitError") throw error;
    return error as unknown as ExecResult;
  };
  const ended = await run(node).catch(exitOf);
  const trap = shell.traps.get("EXIT");
  if (!trap) {
    if (ended instanceof Error) throw ended;
    return ended;
  }
  shell.traps.delete("EXIT");
  setStatus(shell.interpreter, ended.exitCode);
  const last = await run(parse(trap)).catch(exitOf);
  const exitCode = last instanceof Error ? last.exitCode : ended.exitCode;
  const { stdout, stderr } = ended;
  const env = Object.fromEntries(shell.interpreter.ctx.state.env);
  return { stdout: stdout + last.stdout, stderr: stderr + last.stderr, exitCode, env };
}

/** Runs the trap of ERR after a command that fails where `set -e` would end the script. */
async function trapError(
  interpreter: Interpreter,
  { pipelines }: StatementNode,
  result: ExecResult,
  run: RunScript,
): Promise<void> {
  const { state } = interpreter.ctx;
  const shell = shells.getStore();
  const trap = shell?.traps.get("ERR");
  const type = pipelines.at(-1)?.commands.at(-1)?.type;
  const isOwn = type === "SimpleCommand" || type === "Subshell" || type === "ConditionalCommand";
  if (!shell || !trap || result.exitCode === 0 || state.inCondition || state.errexitSafe) return;
  // As in bash, functions and subshells do not inherit the trap.
  if (!isOwn || state.callDepth > 0 || state.bashPid !== shell.pid) return;
  shell.traps.delete("ERR");
  setStatus(interpreter, result.exitCode);
  const { stdout, stderr } = await run(parse(trap));
  shell.traps.set("ERR", trap);
  setStatus(interpreter, result.exitCode);
  result.stdout += stdout;
  result.stderr += stderr;
}

function setStatus({ ctx: { state } }: Interpreter, exitCode: number): void {
  state.lastExitCode = exitCode;
  state.env.set("?", String(exitCode));
}

/** Signals that no process of the sandbox can send. */
const NEVER_SENT = /^(HUP|INT|QUIT|TERM|USR1|USR2|PIPE|ALRM|WINCH|TSTP|CONT|CHLD)$/;

export const trapCommand: Command = defineCommand("trap", async (args) => {
  const operands = args[0] === "--" ? args.slice(1) : args;
  const shell = shells.getStore();
  const list = [...(shell?.traps ?? [])].map(
    ([signal, script]) => `trap -- '${script.replaceAll("'", "'\\''")}' ${signal}\n`,
  );
  if (operands.length === 0 || operands[0] === "-p") {
    return { stdout: list.join(""), stderr: "", exitCode: 0 };
  }
  const [action = "", ...given] = operands.length === 1 ? ["-", ...operands] : operands;
  let stderr = "";
  for (const name of given) {
    const signal = name === "0" ? "EXIT" : name.toUpperCase().replace(/^SIG/, "");
    if (NEVER_SENT.test(signal) || /^\d+$/.test(signal)) continue;
    const isInner = shell?.interpreter.ctx.state.bashPid !== shell?.pid;
    if (action === "-") shell?.traps.delete(signal);
    else if (!/^(EXIT|ERR)$/.test(signal) || isInner) {
      stderr += `bash: trap: ${name} is not supported here and never runs\n`;
    } else shell?.traps.set(signal, action);
  }
  return { stdout: "", stderr, exitCode: 0 };
});

/** Replaces the words that the interpreter would expand to others than bash. */
async function correctWords(
  interpreter: Interpreter,
  node: CommandNode,
  run: RunScript,
): Promise<CommandNode> {
  const { nounset } = interpreter.ctx.state.options;
  const isWrong = (word: WordNode) => isFolderPattern(word) || (nounset && isQuotedDefault(word));
  const correct = async (words: WordNode[]) => {
    const corrected: WordNode[] = [];
    for (const word of words) {
      if (isFolderPattern(word)) corrected.push(...(await foldersOf(interpreter, word, run)));
      else corrected.push(nounset && isQuotedDefault(word) ? withEmptyText(word) : word);
    }
    return corrected;
  };
  if (node.type === "For" && node.words?.some(isWrong)) {
    return { ...node, words: await correct(node.words) };
  }
  if (node.type !== "SimpleCommand") return node;
  const { args, assignments } = node;
  if (![...args, ...assignments.flatMap(({ array }) => array ?? [])].some(isWrong)) return node;
  const corrected = assignments.map(async (assignment) =>
    assignment.array ? { ...assignment, array: await correct(assignment.array) } : assignment,
  );
  return { ...node, args: await correct(args), assignments: await Promise.all(corrected) };
}

/** Whether a word is only a quoted variable with a default, which the interpreter treats as an array's. */
function isQuotedDefault({ parts: [quoted, ...others] }: WordNode): boolean {
  if (quoted?.type !== "DoubleQuoted" || others.length > 0 || quoted.parts.length !== 1)
    return false;
  const [inner] = quoted.parts;
  return (
    inner?.type === "ParameterExpansion" &&
    inner.operation !== null &&
    /^\w+$/.test(inner.parameter)
  );
}

const withEmptyText = (word: WordNode): WordNode => ({
  ...word,
  parts: word.parts.map((part) =>
    part.type === "DoubleQuoted"
      ? { ...part, parts: [{ type: "Literal", value: "" }, ...part.parts] }
      : part,
  ),
});

function isFolderPattern({ parts }: WordNode): boolean {
  const last = parts.at(-1);
  return last?.type === "Literal" && /\/$/.test(last.value) && parts.some(isGlob);
}

const isGlob = (part: Part) => part.type === "Glob";

async function foldersOf(interpreter: Interpreter, word: WordNode, run: RunScript) {
  const { fs, state } = interpreter.ctx;
  const status = state.lastExitCode;
  // Without the slash the shell matches files too.
  const bare = word.parts.map((part, at) =>
    at === word.parts.length - 1 && part.type === "Literal"
      ? { ...part, value: part.value.replace(/\/+$/, "") }
      : part,
  );
  const script = parse("printf '%s\\0'");
  const command = script.statements[0]?.pipelines[0]?.commands[0] as SimpleCommandNode;
  command.args.push({ ...word, parts: bare });
  const { stdout } = await run(script);
  setStatus(interpreter, status);
  const folders: WordNode[] = [];
  for (const path of stdout.split("\0").slice(0, -1)) {
    const found = await fs.stat(fs.resolvePath(state.cwd, path)).catch(() => undefined);
    const value = `${path}/`;
    if (found?.isDirectory) folders.push({ ...word, parts: [{ type: "SingleQuoted", value }] });
  }
  if (folders.length > 0 || state.shoptOptions.nullglob) return folders;
  const parts = word.parts.map(
    (part): Part => (part.type === "Glob" ? { type: "SingleQuoted", value: part.pattern } : part),
  );
  return [{ ...word, parts }];
}
