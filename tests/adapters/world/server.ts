import { fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../scripts/free-port.ts";

export type Env = Readonly<Record<string, string>>;

/** One server on a World: it can be killed and started again, and is asked over HTTP. */
export class WorldServer {
  /** Has the notes of the workflows, the log, and the data of a World that stores files. */
  readonly #folder: string;
  readonly #bundles: string;
  readonly #env: Env;
  readonly #port: number;
  #process: ReturnType<typeof fork> | undefined;

  private constructor(folder: string, bundles: string, env: Env, port: number) {
    this.#folder = folder;
    this.#bundles = bundles;
    this.#env = env;
    this.#port = port;
  }

  /**
   * @param bundles the folder of the built workflows.
   * @param env what selects the World, by the folder for its data.
   */
  static async open(bundles: string, env: (folder: string) => Env): Promise<WorldServer> {
    const folder = await mkdtemp(join(tmpdir(), "agent-platform-world-"));
    return new WorldServer(folder, bundles, env(folder), await freePort());
  }

  async start(): Promise<void> {
    const started = fork(join(import.meta.dirname, "app/serve.ts"), [this.#bundles], {
      env: {
        NODE_ENV: "production",
        PATH: process.env.PATH,
        PORT: String(this.#port),
        NOTES_DIR: this.#folder,
        ...this.#env,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const log = createWriteStream(join(this.#folder, "server.log"), { flags: "a" });
    started.stdout?.pipe(log);
    started.stderr?.pipe(log);
    this.#process = started;
    const [message] = await Promise.race([once(started, "message"), once(started, "exit")]);
    if (message !== "started") throw new Error(`The server ended: ${await this.log()}`);
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    const killed = this.#process;
    if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
    killed.kill("SIGKILL");
    await once(killed, "exit");
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  log = () => readFile(join(this.#folder, "server.log"), "utf8").catch(() => "");

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async ask<T = unknown>(operation: string, body: object): Promise<T> {
    const answer = await fetch(`${this.url}/${operation}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const result: unknown = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(result));
    return result as T;
  }

  /** Calls an operation of the World itself, such as `runs.list`. */
  world = <T>(part: string, operation: string, ...args: unknown[]): Promise<T> =>
    this.ask<T>("world", { part, operation, args });

  /** Lets the step `pause` of this key end. */
  open = (key: string): Promise<void> => writeFile(join(this.#folder, `${key}.go`), "");

  /** Returns the effects that the steps of this key recorded, in order. */
  async effects(key: string): Promise<string[]> {
    const text = await readFile(join(this.#folder, `${key}.effects`), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean);
  }
}
