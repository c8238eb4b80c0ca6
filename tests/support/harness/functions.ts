/**
 * Serves a build as Vercel does: each function from its traced files alone, in an empty folder and
 * a separate process, behind one origin. `tests/vercel/adapter.ts` has recorded the build.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { projectRoot } from "../../../scripts/project-root.ts";
import type { BuildOutput } from "../../vercel/adapter.ts";

export interface TracedFunction {
  readonly pathname: string;
  /** The compiled module, as a path below the function's folder. */
  readonly entry: string;
  /** Where its files come from, by their paths below the function's folder. */
  readonly files: Readonly<Record<string, string>>;
}

/** The functions of the API and of the engine; pages are other functions. */
export async function readFunctions(distDir: string): Promise<TracedFunction[]> {
  const { outputs } = await readBuild(distDir);
  return outputs.appRoutes
    .filter(({ pathname }) => !pathname.endsWith(".rsc"))
    .map(({ pathname, filePath, assets }) => {
      const entry = relative(projectRoot, filePath);
      return { pathname, entry, files: { ...assets, [entry]: filePath } };
    });
}

const readBuild = async (distDir: string): Promise<BuildOutput> =>
  JSON.parse(await readFile(join(projectRoot, distDir, "functions.json"), "utf8"));

interface Instance {
  readonly child: ChildProcess;
  readonly port: number;
  active: number;
}

/** A function whose last instance was stopped starts again with the next request. */
const MAX_INSTANCES = 12;

/**
 * @param options.env the whole environment of the functions
 * @param options.redirects other origins for vendors whose address no setting changes
 */
export async function deployFunctions(options: {
  readonly distDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly redirects: Readonly<Record<string, string>>;
}) {
  const { routing } = await readBuild(options.distDir);
  const functions = await readFunctions(options.distDir);
  const byPathname = new Map(functions.map((one) => [one.pathname, one]));
  const patterns = routing.dynamicRoutes.map(({ sourceRegex, destination = "" }) => ({
    regex: new RegExp(sourceRegex),
    pathname: destination.replace(/\$.*$/, ""),
  }));
  const root = await realpath(await mkdtemp(join(tmpdir(), "agent-platform-functions-")));
  const copied = new Map<string, Promise<string>>();
  const instances = new Map<string, Promise<Instance>>();
  let output = "";

  /** The headers that the platform adds to every answer: its own, and those in `next.config.ts`. */
  const headersOf = (path: string): Record<string, string> =>
    Object.assign(
      { "strict-transport-security": "max-age=63072000" },
      ...routing.beforeMiddleware
        .filter(({ sourceRegex }) => new RegExp(sourceRegex).test(path))
        .map(({ headers }) => headers),
    );

  /** Finds the function of a path, with the parameters that it takes from the path. */
  function route(path: string): { target: TracedFunction; params: Record<string, string> } | null {
    const exact = byPathname.get(path);
    if (exact) return { target: exact, params: {} };
    for (const { regex, pathname } of patterns) {
      const groups = regex.exec(path)?.groups;
      const target = byPathname.get(pathname);
      if (groups && target) return { target, params: groups };
    }
    return null;
  }

  async function copy({ files }: TracedFunction): Promise<string> {
    const folder = await mkdtemp(join(root, "function-"));
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(source, join(folder, path), { recursive: true, verbatimSymlinks: true });
    }
    return folder;
  }

  async function start(target: TracedFunction): Promise<Instance> {
    const folder = copied.get(target.pathname) ?? copy(target);
    copied.set(target.pathname, folder);
    const args = [target.entry, JSON.stringify(options.redirects)];
    const child = fork(join(import.meta.dirname, "serve-function.ts"), args, {
      cwd: await folder,
      env: options.env as NodeJS.ProcessEnv,
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const died = once(child, "exit").then(() => {
      instances.delete(target.pathname);
      throw new Error(`${target.pathname} did not start:\n${output.slice(-4000)}`);
    });
    const [port] = await Promise.race([once(child, "message"), died]);
    died.catch(() => {});
    return { child, port, active: 0 };
  }

  async function instanceOf(target: TracedFunction): Promise<Instance> {
    const known = instances.get(target.pathname) ?? start(target);
    // The one that was used last comes last.
    instances.delete(target.pathname);
    instances.set(target.pathname, known);
    const instance = await known;
    instance.active++;
    for (const [pathname, other] of instances) {
      if (instances.size <= MAX_INSTANCES) break;
      const { active, child } = await other;
      if (active > 0) continue;
      instances.delete(pathname);
      child.kill("SIGKILL");
    }
    return instance;
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "/", "http://functions");
    const found = route(url.pathname);
    if (!found) return void outgoing.writeHead(404).end();
    for (const [name, value] of Object.entries(found.params)) {
      if (name.startsWith("nxtP") && value) url.searchParams.set(name, decodeURIComponent(value));
    }
    const instance = await instanceOf(found.target);
    const inner = request({
      port: instance.port,
      host: "127.0.0.1",
      method: incoming.method,
      path: url.pathname + url.search,
      headers: {
        ...incoming.headers,
        "x-matched-path": found.target.pathname,
        "x-forwarded-for": incoming.headers["x-forwarded-for"] ?? "203.0.113.7",
      },
    });
    // A caller that goes away is noticed by the function.
    outgoing.once("close", () => inner.destroy());
    try {
      const answered = once(inner, "response");
      incoming.pipe(inner);
      const [response] = (await answered) as [IncomingMessage];
      const headers = { ...response.headers, ...headersOf(url.pathname) };
      outgoing.writeHead(response.statusCode ?? 500, headers);
      outgoing.flushHeaders();
      await pipeline(response, outgoing);
    } finally {
      instance.active--;
    }
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      output += `${error}\n`;
      outgoing.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The logs of all functions. */
    logs: () => output,
    /** Returns the files that the functions have added to their folders. */
    async writtenFiles(): Promise<string[]> {
      const written: string[] = [];
      for (const [pathname, folder] of copied) {
        const files = byPathname.get(pathname)?.files ?? {};
        const found = await readdir(await folder, { recursive: true, withFileTypes: true });
        for (const entry of found.filter((one) => !one.isDirectory())) {
          const path = relative(await folder, join(entry.parentPath, entry.name));
          const isCopied = Object.keys(files).some((file) => `${path}/`.startsWith(`${file}/`));
          if (!isCopied) written.push(`${pathname}: ${path}`);
        }
      }
      return written;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      for (const instance of instances.values()) {
        await instance.then(({ child }) => child.kill("SIGKILL")).catch(() => {});
      }
      await rm(root, { recursive: true, force: true });
    },
  };
}
