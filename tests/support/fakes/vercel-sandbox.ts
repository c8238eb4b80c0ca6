/**
 * The part of Vercel's sandbox API that the SDK calls, on loopback. A machine is a folder, and its
 * commands run in real bash there; the machine's paths are translated at the edge.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";

const HOME = "/vercel/sandbox";

interface Machine {
  name: string;
  /** The folder that stands for the machine's root. */
  root: string;
  createdAt: number;
  session: { id: string; status: "running" | "stopped" };
  networkPolicy: unknown;
}

interface Command {
  id: string;
  child: ChildProcess;
  logs: { stream: "stdout" | "stderr"; data: string }[];
  /** Resolves to the exit code when the output has been read to its end. */
  finished: Promise<number>;
  sessionId: string;
}

export interface FakeVercel {
  /** Hand this to the adapter: calls to Vercel's API come here. */
  fetch: typeof globalThis.fetch;
  /** The policy that the adapter asked for, by machine. */
  networkPolicyOf(name: string): unknown;
  /** What Vercel does with a machine that has run for its time: saved, resumed by the next call. */
  stopMachine(name: string): void;
  /** How many commands were started. */
  commandsStarted(): number;
  /** The next answer to the start of a command is lost after the command has started. */
  loseNextAnswer(): void;
  close(): Promise<void>;
}

const createBody = z.object({ name: z.string(), networkPolicy: z.unknown() });
const commandBody = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
});

export async function startFakeVercel(rootDir: string): Promise<FakeVercel> {
  const machines = new Map<string, Machine>();
  const commands = new Map<string, Command>();
  let ids = 0;
  let loseAnswer = false;

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const origin = `http://127.0.0.1:${address.port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const [, version, , first = "", second = "", ...rest] = url.pathname
      .slice("/api".length)
      .split("/");
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const fail = (status: number, code: string) => send(status, { error: { code, message: code } });

    if (first !== "sessions") {
      if (version === "v3" && request.method === "POST") {
        const { name, networkPolicy } = createBody.parse(JSON.parse(await text(request)));
        if (machines.has(name)) return void fail(409, "sandbox_exists");
        const root = join(rootDir, name);
        await mkdir(join(root, HOME), { recursive: true });
        const session = { id: `session_${++ids}`, status: "running" } as const;
        const machine = { name, root, createdAt: Date.now(), session, networkPolicy };
        machines.set(name, machine);
        return void send(200, describe(machine));
      }
      const machine = machines.get(decodeURIComponent(first));
      if (!machine) return void fail(404, "not_found");
      if (request.method === "DELETE") {
        machines.delete(machine.name);
        await rm(machine.root, { recursive: true, force: true });
        return void send(200, { sandbox: describe(machine).sandbox });
      }
      if (url.searchParams.get("resume") === "true" && machine.session.status === "stopped") {
        machine.session = { id: `session_${++ids}`, status: "running" };
      }
      return void send(200, describe(machine));
    }

    const machine = [...machines.values()].find(({ session }) => session.id === second);
    if (!machine) return void fail(410, "sandbox_stopped");
    const [area, id = "", action] = rest;
    if (area === "stop") {
      machine.session.status = "stopped";
      return void send(200, { session: describe(machine).session });
    }
    if (machine.session.status === "stopped") return void fail(410, "sandbox_stopped");
    if (area === "fs" && id === "read") {
      const { path } = z.object({ path: z.string() }).parse(JSON.parse(await text(request)));
      const file = join(machine.root, path);
      const found = await stat(file).catch(() => undefined);
      if (!found) return void fail(404, "not_found");
      if (!found.isFile()) return void fail(400, "not_a_file");
      response.writeHead(200, { "content-type": "application/octet-stream" });
      return void createReadStream(file).pipe(response);
    }
    if (area === "fs" && id === "write") {
      const tar = spawn("tar", ["xzf", "-", "-C", machine.root], {
        stdio: ["pipe", "ignore", "ignore"],
      });
      request.pipe(tar.stdin);
      const [code] = await once(tar, "close");
      return void (code === 0 ? send(200, {}) : fail(400, "not_written"));
    }
    if (area === "cmd" && id === "") {
      const started = start(machine, commandBody.parse(JSON.parse(await text(request))));
      if (!loseAnswer) return void send(200, { command: describeCommand(started, null) });
      loseAnswer = false;
      return void request.socket.destroy();
    }
    const command = commands.get(id);
    if (!command) return void fail(404, "not_found");
    if (action === "kill") {
      const { signal } = z.object({ signal: z.number() }).parse(JSON.parse(await text(request)));
      command.child.kill(signal as unknown as NodeJS.Signals);
      return void send(200, { command: describeCommand(command, null) });
    }
    const exitCode = await command.finished;
    if (action !== "logs") return void send(200, { command: describeCommand(command, exitCode) });
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(command.logs.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  function start(machine: Machine, { command, args, env }: z.output<typeof commandBody>): Command {
    const home = join(machine.root, HOME);
    const inside = (value: string) => value.replaceAll(HOME, home);
    const child = spawn(command, args.map(inside), {
      cwd: home,
      env: { ...process.env, HOME: home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // As on the real machine, not in this process's group: a command may kill its own.
      detached: true,
    });
    const logs: Command["logs"] = [];
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (data: string) => {
        logs.push({ stream, data: data.replaceAll(home, HOME) });
      });
    }
    const finished = once(child, "close").then(([code, signal]) =>
      signal ? 128 + (signal === "SIGKILL" ? 9 : 15) : Number(code),
    );
    const made = { id: `cmd_${++ids}`, child, logs, finished, sessionId: machine.session.id };
    commands.set(made.id, made);
    return made;
  }

  return {
    fetch: (input, init) => fetch(String(input).replace("https://vercel.com", origin), init),
    networkPolicyOf: (name) => machines.get(name)?.networkPolicy,
    stopMachine(name) {
      const machine = machines.get(name);
      if (machine) machine.session.status = "stopped";
    },
    commandsStarted: () => commands.size,
    loseNextAnswer() {
      loseAnswer = true;
    },
    async close() {
      for (const { child } of commands.values()) child.kill("SIGKILL");
      server.closeAllConnections();
      server.close();
    },
  };
}

function describe({ name, createdAt, session }: Machine) {
  const times = { createdAt, updatedAt: createdAt };
  return {
    sandbox: {
      name,
      persistent: true,
      currentSessionId: session.id,
      status: session.status,
      ...times,
    },
    session: {
      ...{ id: session.id, status: session.status, cwd: HOME, memory: 2048, vcpus: 1 },
      ...{ region: "iad1", timeout: 1_800_000, requestedAt: createdAt, ...times },
    },
    routes: [],
  };
}

function describeCommand({ id, sessionId }: Command, exitCode: number | null) {
  return { id, name: "timeout", args: [], cwd: HOME, sessionId, exitCode, startedAt: Date.now() };
}
