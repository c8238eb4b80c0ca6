/**
 * The part of Vercel's sandbox API that the SDK calls, on loopback. A machine is a folder in which its
 * commands run in real bash; the machine's paths are translated on the way in and out.
 * This file is long because all its handlers share the machines and their commands.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openAsBlob } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SerializedCommand, SerializedSandbox } from "@vercel/sandbox";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { requireHeader, serveHandlers } from "./vendor-server.ts";

/** Where commands start on Amazon Linux, and on the Ubuntu that newer machines boot, without the folder. */
const HOMES = { amazon: "/vercel/sandbox", ubuntu: "/vercel/work" };
const SANDBOXES = "/api/v2/sandboxes";
const SESSION = `${SANDBOXES}/sessions/:session`;
type InSession = { session: string };
type ByName = { name: string };
type OfCommand = { id: string };

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
  /** Resolves at the next line of the logs. */
  next: PromiseWithResolvers<void>;
  /** Resolves to the exit code when the output has been read to its end. */
  finished: Promise<number>;
  sessionId: string;
}

interface Described {
  readonly sandbox: Required<SerializedSandbox>["sandboxMetadata"];
  readonly session: SerializedSandbox["metadata"];
  readonly routes: SerializedSandbox["routes"];
}

export type FakeVercel = Awaited<ReturnType<typeof startFakeVercel>>;

const createBody = z.object({ name: z.string(), networkPolicy: z.unknown() });
const updateBody = z.object({ networkPolicy: z.unknown() });
const commandBody = z.object({
  command: z.string(),
  args: z.array(z.string()),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()),
});

/** @param token the one that every request needs. Default: any */
export async function startFakeVercel(
  rootDir: string,
  token?: string,
  image: keyof typeof HOMES = "amazon",
) {
  const HOME = HOMES[image];
  const machines = new Map<string, Machine>();
  const commands = new Map<string, Command>();
  let ids = 0;
  let isNextAnswerLost = false;
  let isNextPolicyRefused = false;
  let policyUpdates = 0;

  const machineOf = (session: string) =>
    [...machines.values()].find((machine) => machine.session.id === session);
  const commandBodyOf = (command: Command, exitCode: number | null) =>
    HttpResponse.json({ command: describeCommand(command, exitCode) });

  const server = await serveHandlers([
    ...(token === undefined ? [] : [guard(token)]),
    http.get(SANDBOXES, () =>
      HttpResponse.json({
        sandboxes: [...machines.values()].map((machine) => describe(machine).sandbox),
        pagination: { count: machines.size, next: null },
      }),
    ),
    http.post("/api/v3/sandboxes", async ({ request }) => {
      const { name, networkPolicy } = createBody.parse(await request.json());
      if (machines.has(name)) return refuse(409, "sandbox_exists");
      const root = join(rootDir, name);
      const session = { id: `session_${++ids}`, status: "running" } as const;
      const machine = { name, root, createdAt: Date.now(), session, networkPolicy };
      // At once: a call that finds the machine may start a command in its folder.
      mkdirSync(image === "amazon" ? join(root, HOME) : root, { recursive: true });
      machines.set(name, machine);
      return HttpResponse.json(describe(machine));
    }),
    http.get<ByName>(`${SANDBOXES}/:name`, ({ request, params }) => {
      const machine = machines.get(params.name);
      if (!machine) return refuse(404, "not_found");
      const isResumed = new URL(request.url).searchParams.get("resume") === "true";
      if (isResumed && machine.session.status === "stopped") {
        machine.session = { id: `session_${++ids}`, status: "running" };
      }
      return HttpResponse.json(describe(machine));
    }),
    http.patch<ByName>(`${SANDBOXES}/:name`, async ({ request, params }) => {
      const machine = machines.get(params.name);
      if (!machine) return refuse(404, "not_found");
      if (isNextPolicyRefused) {
        isNextPolicyRefused = false;
        return refuse(400, "policy_refused");
      }
      policyUpdates += 1;
      machine.networkPolicy = updateBody.parse(await request.json()).networkPolicy;
      return HttpResponse.json(describe(machine));
    }),
    http.delete<ByName>(`${SANDBOXES}/:name`, async ({ params }) => {
      const machine = machines.get(params.name);
      if (!machine) return refuse(404, "not_found");
      machines.delete(machine.name);
      await rm(machine.root, { recursive: true, force: true });
      return HttpResponse.json({ sandbox: describe(machine).sandbox });
    }),

    http.post<InSession>(`${SESSION}/stop`, ({ params }) => {
      const machine = machineOf(params.session);
      if (!machine) return;
      machine.session.status = "stopped";
      return HttpResponse.json({ session: describe(machine).session });
    }),
    http.all<InSession>(`${SESSION}/*`, ({ params }) => {
      if (machineOf(params.session)?.session.status !== "running") {
        return refuse(410, "sandbox_stopped");
      }
    }),
    http.post<InSession>(`${SESSION}/network-policy`, async ({ request, params }) => {
      const machine = machineOf(params.session);
      if (!machine) return;
      machine.networkPolicy = await request.json();
      return HttpResponse.json({ session: describe(machine).session });
    }),
    http.post<InSession>(`${SESSION}/fs/read`, async ({ request, params }) => {
      const { path } = z.object({ path: z.string() }).parse(await request.json());
      const file = join(machineOf(params.session)?.root ?? "", path);
      const found = await stat(file).catch(() => undefined);
      if (!found) return refuse(404, "not_found");
      if (!found.isFile()) return refuse(400, "not_a_file");
      const headers = { "content-type": "application/octet-stream" };
      return new HttpResponse(await openAsBlob(file), { headers });
    }),
    http.post<InSession>(`${SESSION}/fs/write`, async ({ request, params }) => {
      const root = machineOf(params.session)?.root ?? "";
      const tar = spawn("tar", ["xzf", "-", "-C", root], { stdio: ["pipe", "ignore", "ignore"] });
      tar.stdin.end(Buffer.from(await request.arrayBuffer()));
      const [code] = await once(tar, "close");
      return code === 0 ? HttpResponse.json({}) : refuse(400, "not_written");
    }),
    http.post<InSession>(`${SESSION}/cmd`, async ({ request, params }) => {
      const machine = machineOf(params.session);
      if (!machine) return;
      const command = start(machine, commandBody.parse(await request.json()));
      if (!isNextAnswerLost) return commandBodyOf(command, null);
      isNextAnswerLost = false;
      return HttpResponse.error();
    }),
    http.post<OfCommand>(`${SESSION}/cmd/:id/kill`, async ({ request, params }) => {
      const command = commands.get(params.id);
      if (!command) return refuse(404, "not_found");
      const { signal } = z.object({ signal: z.number() }).parse(await request.json());
      command.child.kill(signal as unknown as NodeJS.Signals);
      return commandBodyOf(command, null);
    }),
    http.get<OfCommand>(`${SESSION}/cmd/:id/logs`, async ({ params }) => {
      const command = commands.get(params.id);
      if (!command) return refuse(404, "not_found");
      const lines = new ReadableStream<Uint8Array>({
        async start(controller) {
          for await (const line of linesOf(command)) controller.enqueue(line);
          controller.close();
        },
      });
      return new HttpResponse(lines, { headers: { "content-type": "application/x-ndjson" } });
    }),
    http.get<OfCommand>(`${SESSION}/cmd/:id`, async ({ params }) => {
      const command = commands.get(params.id);
      return command ? commandBodyOf(command, await command.finished) : refuse(404, "not_found");
    }),
  ]);

  /** The logs of a command as it writes them, until it has ended. */
  async function* linesOf(command: Command): AsyncGenerator<Uint8Array> {
    let isOver = false;
    for (let read = 0; ; ) {
      for (; read < command.logs.length; read++) {
        yield Buffer.from(`${JSON.stringify(command.logs[read])}\n`);
      }
      if (isOver) return;
      command.next = Promise.withResolvers();
      isOver = await Promise.race([
        command.finished.then(() => true),
        command.next.promise.then(() => false),
      ]);
    }
  }

  function start(machine: Machine, body: z.output<typeof commandBody>): Command {
    const { command, args, env, cwd } = body;
    const home = join(machine.root, HOME);
    const inside = (value: string) => value.replaceAll(HOME, home);
    const child = spawn(command, args.map(inside), {
      cwd: cwd === "/" ? machine.root : home,
      env: { ...process.env, HOME: home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, as on the real machine, because a command may kill its group.
      detached: true,
    });
    const logs: Command["logs"] = [];
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (data: string) => {
        logs.push({ stream, data: data.replaceAll(home, HOME) });
        made.next.resolve();
      });
    }
    const finished = once(child, "close").then(
      ([code, signal]) =>
        signal ? 128 + (signal === "SIGKILL" ? 9 : 15) : exitCodeOf(command, Number(code)),
      // The folder of a machine that was deleted in between.
      () => 127,
    );
    const made = {
      ...{ id: `cmd_${++ids}`, child, logs, finished, sessionId: machine.session.id },
      next: Promise.withResolvers<void>(),
    };
    commands.set(made.id, made);
    return made;
  }

  /** The timeout of Ubuntu's coreutils, which are uutils, ends otherwise than GNU's when it has killed. */
  const exitCodeOf = (command: string, code: number) =>
    image === "ubuntu" && command === "timeout" && code === 137 ? 125 : code;

  function describe({ name, createdAt, session, networkPolicy: policy }: Machine): Described {
    const times = { createdAt, updatedAt: createdAt };
    const { id, status } = session;
    const machine = { cwd: HOME, memory: 2048, vcpus: 1, region: "iad1", timeout: 1_800_000 };
    return {
      sandbox: {
        name,
        persistent: true,
        currentSessionId: id,
        status,
        ...times,
        networkPolicy: describePolicy(policy),
      },
      session: { id, status, ...machine, requestedAt: createdAt, ...times },
      routes: [],
    };
  }

  function describeCommand(
    { id, sessionId }: Command,
    exitCode: number | null,
  ): SerializedCommand["cmd"] {
    return { id, name: "timeout", args: [], cwd: HOME, sessionId, exitCode, startedAt: Date.now() };
  }

  return {
    ...server,
    credentials: { token: token ?? "token", teamId: "team", projectId: "project" },
    /** The adapter's `fetch`, which sends calls of Vercel's API to this server. */
    fetch: ((input, init) =>
      fetch(String(input).replace("https://vercel.com", server.origin), init)) as typeof fetch,
    /** Returns the network policy that the adapter set for a machine. */
    networkPolicyOf: (name: string) => machines.get(name)?.networkPolicy,
    /** Returns how often the policy of a machine was changed. */
    policyUpdates: () => policyUpdates,
    /** Refuses the next change of a policy. */
    failNextPolicy() {
      isNextPolicyRefused = true;
    },
    /** Stops a machine as Vercel does when its time has run out: it is saved, and resumed by the next call. */
    stopMachine(name: string) {
      const machine = machines.get(name);
      if (machine) machine.session.status = "stopped";
    },
    /** Returns how many commands were started. */
    commandsStarted: () => commands.size,
    /** Breaks the connection of the next request that starts a command, after the command has started. */
    loseNextAnswer() {
      isNextAnswerLost = true;
    },
    async close() {
      for (const { child } of commands.values()) child.kill("SIGKILL");
      await server.close();
    },
  };
}

const guard = (token: string) =>
  requireHeader("authorization", `Bearer ${token}`, () => refuse(403, "forbidden"));

const refuse = (status: number, code: string) =>
  HttpResponse.json({ error: { code, message: code } }, { status });

const requestedPolicy = z.union([
  z.object({ mode: z.enum(["allow-all", "deny-all"]) }),
  z.object({ allow: z.record(z.string(), z.unknown()) }),
]);

/** As the API describes a policy: by its hosts, without the values of its rules. */
function describePolicy(given: unknown): Described["sandbox"]["networkPolicy"] {
  if (given === undefined) return;
  const policy = requestedPolicy.parse(given);
  return "mode" in policy ? policy : { mode: "custom", allowedDomains: Object.keys(policy.allow) };
}
