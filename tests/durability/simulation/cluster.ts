/** Two or three servers on one database, each behind its own proxies. */
import { expect } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { crash, startWorkspace, type Workspace } from "../../support/harness/workspace.ts";
import { Faults, Line } from "./faults.ts";
import { startPostgresProxy } from "./postgres-proxy.ts";
import { startRestProxy } from "./rest-proxy.ts";

export interface Node {
  readonly server: RunningNext;
  readonly line: Line;
  /** Closes the proxies. */
  close(): Promise<unknown>;
}

export interface Cluster {
  readonly workspace: Workspace;
  readonly faults: Faults;
  /** One of the servers that run, by any number. Waits for one when none does. */
  pick(choice: number): Promise<Node>;
  /** Kills a server as a crash would; another one starts in its place. */
  crash(node: Node): Promise<void>;
  /** Ends a server with SIGTERM; another one starts in its place. */
  drain(node: Node): Promise<void>;
  /** Takes a server's database away until another one has taken over its runs. */
  fence(node: Node): Promise<void>;
  /** PostgreSQL crashes, and recovers. */
  crashDatabase(): Promise<void>;
  /** Ends all faults. */
  heal(): void;
  /** Resolves when this number of servers run. */
  resize(size: number): Promise<void>;
  /** The recent log of the running servers. */
  logs(): string;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const faults = new Faults();
  const nodes = new Set<Node>();
  /** One after the other, because each finds its proxies in `newest`. */
  let starting = Promise.resolve();
  let newest: Omit<Node, "server"> | undefined;
  let size = 1;

  const workspace = await startWorkspace(async (parts) => {
    const line = new Line(faults);
    const proxies = await Promise.all([
      startPostgresProxy(parts.DATABASE_URL ?? "", line),
      startRestProxy(parts.SUPABASE_URL ?? "", line),
    ]);
    newest = { line, close: () => Promise.all(proxies.map((proxy) => proxy.close())) };
    return {
      DATABASE_URL: proxies[0].url,
      SUPABASE_URL: proxies[1].url,
      LOG_LEVEL: "warn",
      DRAIN_SECONDS: "1",
      MODEL_PRICES: JSON.stringify({ "fake-model": { input: 2, output: 10 } }),
    };
  });
  const { sql } = workspace;

  const add = (server: RunningNext) => {
    if (!newest) throw new Error("The server has no proxies");
    const node: Node = { ...newest, server };
    nodes.add(node);
    node.line.activate({ crash: () => void kill(node), drain: () => void retire(node) });
  };
  /** Starts missing servers; the next call retries a failed start. */
  const fill = () => {
    starting = starting
      .catch(() => {})
      .then(async () => {
        while (nodes.size < size) add(await workspace.startServer());
      });
    return starting;
  };
  const end = async (node: Node, how: (server: RunningNext) => Promise<void>) => {
    if (!nodes.delete(node)) return;
    const ended = how(node.server);
    fill().catch(() => {});
    await ended;
    await node.close();
  };
  const kill = (node: Node) => end(node, crash);
  const retire = (node: Node) => end(node, (server) => server.stop());
  const pick = async (choice: number): Promise<Node> => {
    if (nodes.size === 0) await fill();
    const all = [...nodes];
    return all[choice % all.length] ?? pick(choice);
  };

  /** Whether the servers that run, and no others, have a row in `engine.instances`. */
  const allRegistered = async () => {
    await starting.catch(() => {});
    const rows = await sql`select from engine.instances`;
    const ready = await Promise.all(
      [...nodes].map(({ server }) =>
        fetch(`${server.url}/api/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    return rows.length === nodes.size && ready.every(Boolean);
  };

  add(workspace.server);
  return {
    workspace,
    faults,
    pick,
    crash: kill,
    drain: retire,
    async fence(node) {
      // A server that has just been fenced has no row to lose until it registers again.
      await expect
        .poll(async () => !nodes.has(node) || (await allRegistered()), { interval: 20 })
        .toBe(true);
      if (!nodes.has(node)) return;
      const before = await sql`select id from engine.instances`;
      node.line.partition();
      const isOneGone = async () => {
        const now = await sql`select id from engine.instances`;
        return !nodes.has(node) || before.some(({ id }) => now.every((row) => row.id !== id));
      };
      await expect.poll(isOneGone, { interval: 20 }).toBe(true);
      node.line.heal();
    },
    async crashDatabase() {
      await starting;
      let before: number[] = [];
      // The servers are without sessions for a moment after another crash.
      const connected = async () => {
        before = await sessionsOf(workspace).catch(() => []);
        return before.length > 0;
      };
      await expect.poll(connected, { interval: 20 }).toBe(true);
      const [victim] = before;
      if (victim === undefined) throw new Error("PostgreSQL has no sessions");
      // PostgreSQL takes its memory for damaged, ends all sessions and recovers from its log.
      process.kill(victim, "SIGKILL");
      await expect
        .poll(
          () =>
            sessionsOf(workspace).then(
              (now) => now.some((pid) => before.includes(pid)),
              () => "down",
            ),
          { interval: 50 },
        )
        .toBe(false);
    },
    heal() {
      faults.clear();
      for (const { line } of nodes) line.heal();
    },
    async resize(wanted) {
      size = wanted;
      await fill();
      for (const node of [...nodes].slice(size)) await retire(node);
    },
    logs: () => [...nodes].map(({ server }) => server.logs().slice(-4_000)).join("\n"),
    async stop() {
      await fill();
      await workspace.stop();
      await Promise.all([...nodes].map((node) => node.close()));
    },
  };
}

/** The processes of PostgreSQL that serve the database's clients. */
async function sessionsOf({ sql }: Workspace): Promise<number[]> {
  const rows = await sql`
    select pid from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
      and application_name = 'agent-platform-engine'`;
  return rows.map(({ pid }) => Number(pid));
}
