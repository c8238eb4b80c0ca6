/**
 * The examples of `docs/guides`, run as a reader would: each shell block in turn, its answer compared with the
 * block below it. Lines with `…` are the reader's to fill in, and `…` in an answer stands for anything.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as streamText } from "node:stream/consumers";
import { promisify } from "node:util";
import { marked, type Tokens } from "marked";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createAccount, createKey } from "../support/harness/clients.ts";
import { stack } from "../support/harness/stack.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const folder = join(root, "docs/guides");
const guides = await readdir(folder);

/** Ids of an answer that later examples name. */
const variables = [
  ["SESSION_ID", ["session", "id"]],
  ["CHAT_ID", ["chat", "id"]],
  ["TASK_ID", ["task", "id"]],
  ["TEMPLATE_ID", ["template", "id"]],
  ["TRIGGER_ID", ["id"]],
  ["TRIGGER_SECRET", ["secret"]],
  ["RUN_ID", ["runId"]],
  ["CALL_ID", ["required_action", "tool_calls", "0", "id"]],
  ["APPROVAL_ID", ["required_action", "approvals", "0", "id"]],
  ["RULE_ID", ["rules", "0", "id"]],
] as const;

type Environment = NodeJS.ProcessEnv & Record<string, string>;

let workFolder: string;
beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), "guides-"));
});
afterAll(() => rm(workFolder, { recursive: true }));

describe.concurrent("the guide", () => {
  it.each(guides)(
    "%s has examples that work",
    async (file) => {
      const { id } = await createAccount();
      const key = await createKey(id);
      const env: Environment = {
        NODE_ENV: "production",
        PATH: process.env.PATH ?? "",
        API: stack.url,
        KEY: key,
        K: `x-api-key: ${key}`,
      };
      const blocks = marked
        .lexer(await readFile(join(folder, file), "utf8"))
        .filter((token): token is Tokens.Code => token.type === "code")
        .filter((block) => !needsOtherPackages(block));
      const answers: string[] = [];
      if (!blocks.some(({ text }) => text.includes("curl $API/api/sessions -H"))) {
        const quickstart = await readFile(join(folder, "quickstart.md"), "utf8");
        for (const block of setUp(quickstart)) keep(env, await shell(block, env));
      }
      for (const { lang, text } of blocks) {
        if (lang === "sh") {
          const answer = await shell(text, env);
          keep(env, answer);
          answers.push(answer);
        } else if (lang === "ts") {
          answers.push(await typescript(text, env));
        } else if (answers.length > 0) {
          expectAnswer(answers.at(-1) ?? "", text, lang === "json", file);
        }
      }
      expect(blocks.length).toBeGreaterThan(0);
    },
    60_000,
  );
});

/** Code that tests/client and tests/browser run, which have the client's package and a page. */
const needsOtherPackages = ({ lang, text }: Tokens.Code): boolean =>
  lang === "tsx" || text.includes('"agent-platform-client"');

/** The blocks of the quickstart that make a session with a sandbox. */
const setUp = (quickstart: string): string[] =>
  marked
    .lexer(quickstart)
    .filter((token): token is Tokens.Code => token.type === "code" && token.lang === "sh")
    .map(({ text }) => text)
    .filter((text) => /api\/(?:sessions|sandbox) -H/.test(text));

async function shell(text: string, env: Environment): Promise<string> {
  const lines = text.split("\n").filter((line) => !line.includes("…") && line !== "");
  if (lines.length === 0) return "";
  const script = ["set -eu", ...lines].join("\n").replaceAll("curl ", "curl -s ");
  // Without the errors, nothing waits for a command in the background.
  const child = spawn("bash", ["-c", script], {
    env,
    cwd: workFolder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [answer, [code]] = await Promise.all([streamText(child.stdout), once(child, "close")]);
  expect(code, script).toBe(0);
  const [, file] = / > (\S+) &$/.exec(script) ?? [];
  if (file === undefined) return answer;
  const written = () => readFile(join(workFolder, file), "utf8");
  const hasBegun = async () => expect(await written()).toContain('{"type":"start-step"}\n');
  await vi.waitFor(hasBegun, { timeout: 60_000 });
  return written();
}

async function typescript(text: string, env: Environment): Promise<string> {
  const args = ["--input-type=module-typescript", "-e", text];
  const { stdout } = await run(process.execPath, args, { env, cwd: root });
  return stdout;
}

function keep(env: Environment, answer: string): void {
  if (!answer.startsWith("{")) return;
  const body = JSON.parse(answer);
  for (const [name, path] of variables) {
    const id = path.reduce((value, field) => value?.[field], body);
    if (typeof id === "string") env[name] = id;
  }
}

function expectAnswer(answer: string, shown: string, isJson: boolean, file: string): void {
  if (isJson) {
    expect(JSON.parse(answer), file).toMatchObject(withWildcards(JSON.parse(shown)) as object);
    return;
  }
  for (const line of shown.split("\n").filter((one) => one !== "" && one !== "…")) {
    const pattern = line
      .split(/[\w-]*…/)
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
      .join(".*");
    expect(answer.replaceAll("\r", ""), `${file}: ${line}`).toMatch(
      new RegExp(`^ *${pattern}`, "m"),
    );
  }
}

function withWildcards(value: unknown): unknown {
  if (typeof value === "string") return value.includes("…") ? expect.any(String) : value;
  if (Array.isArray(value)) return value.map(withWildcards);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withWildcards(one)]));
}
