/** The product, its peers in the mode they are meant to serve in, and the floors below all of them. */
import { mkdtempSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { projectRoot } from "../../scripts/project-root.ts";
import { runNext } from "../../scripts/run-next.ts";
import { startBare } from "../bare-server.ts";
import { bareTurn, newChat, productTurn } from "../chat-client.ts";
import type { BenchContext } from "../context.ts";
import { peerEnv, peersFolder } from "./install.ts";
import { post, startProgram, type Target } from "./target.ts";

const UI_MESSAGE_DELTA = '"type":"text-delta"';
const CHAT_COMPLETION_DELTA = '"content":"';
/** As many as the bench asks for at once; the default of the development server is 10. */
const LANGGRAPH_JOBS = 50;

type Product = Pick<BenchContext, "env" | "key">;

/** @param model the base URL of the OpenAI-compatible server that all of them ask */
export function listTargets(product: Product, model: string): Target[] {
  const dataDir = product.env.DATA_DIR ?? "";
  return [
    straight(model),
    relay(model),
    bare("bare streamText", "chat", "no-op", model),
    bare("bare, committed", "committed", "none", model),
    ours("product", product, model),
    ours(`product, ${availableParallelism()} processes`, product, model, availableParallelism()),
    hono(model),
    mastra("Mastra, stateless", model),
    mastra("Mastra, memory", model, { dataDir }),
    mastra("Mastra, durable", model, { dataDir, durable: true }),
    // Last, because it keeps working after its answers: see `measure.ts`.
    langGraph(model),
  ];
}

const completion = (text: string) => ({
  model: "fake-model",
  stream: true,
  messages: [{ role: "user", content: text }],
});

const straight = (model: string): Target => ({
  name: "no server",
  delta: CHAT_COMPLETION_DELTA,
  tools: "none",
  start: async () => ({
    converse: async () => (text) => post(`${model}/chat/completions`, completion(text)),
    kill: async () => {},
  }),
});

const relay = (model: string): Target => ({
  name: "relay of bytes",
  delta: CHAT_COMPLETION_DELTA,
  tools: "none",
  async start() {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const args = [join(import.meta.dirname, "relay.ts"), String(port), model];
    const program = await startProgram({ args, cwd: projectRoot, env: peerEnv, ready: url });
    return { converse: async () => (text) => post(url, completion(text)), ...program };
  },
});

/** @param route `committed` is durable, and no more: see its file */
const bare = (
  name: string,
  route: "chat" | "committed",
  tools: Target["tools"],
  model: string,
): Target => ({
  name,
  delta: UI_MESSAGE_DELTA,
  tools,
  async start() {
    const server = await startBare({
      OPENAI_BASE_URL: model,
      OPENAI_API_KEY: "none",
      BARE_MODEL: "auto",
    });
    return {
      converse: async () => (text) => bareTurn({ bareUrl: server.url }, text, route),
      kill: async () => server.stop(),
      pid: server.pid,
    };
  },
});

const ours = (name: string, { env, key }: Product, model: string, processes?: number): Target => ({
  name,
  delta: UI_MESSAGE_DELTA,
  tools: "shell",
  async start() {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = await runNext({
      mode: "start",
      port,
      ...(processes === undefined ? {} : { processes }),
      distDir: process.env.NEXT_DIST_DIR || ".next",
      env: { ...env, PUBLIC_URL: url, OPENAI_BASE_URL: model, OPENAI_API_KEY: "none" },
      output: "collect",
    });
    const there = { url, key };
    return {
      async converse() {
        const chat = await newChat(there);
        return (text) => productTurn(there, chat, text);
      },
      async kill() {
        server.kill("SIGKILL");
        await server.stop();
      },
      pid: server.pid,
    };
  },
});

/** The AI SDK without a framework's router and cache: the minimum of a standalone server. */
const hono = (model: string): Target => ({
  name: "Hono with the AI SDK",
  delta: UI_MESSAGE_DELTA,
  tools: "no-op",
  async start() {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const program = await startProgram({
      args: ["server.js"],
      cwd: join(peersFolder, "hono"),
      env: { ...peerEnv, PORT: `${port}`, OPENAI_BASE_URL: model },
      ready: url,
    });
    const parts = (text: string) => [{ type: "text", text }];
    return {
      converse: async () => (text) =>
        post(`${url}/api/chat`, { messages: [{ id: "1", role: "user", parts: parts(text) }] }),
      ...program,
    };
  },
});

/** `langgraph dev`: its production server comes as a Docker image only, and needs a license. */
const langGraph = (model: string): Target => ({
  name: "LangGraph dev",
  delta: "event: messages",
  tools: "no-op",
  async start() {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const cli = join(peersFolder, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
    const flags = ["--host", "127.0.0.1", "--port", `${port}`, "--no-browser"];
    const program = await startProgram({
      args: [cli, "dev", ...flags, "--n-jobs-per-worker", `${LANGGRAPH_JOBS}`],
      cwd: join(peersFolder, "langgraph"),
      env: { ...peerEnv, OPENAI_BASE_URL: model, LOG_LEVEL: "warn" },
      ready: `${url}/ok`,
    });
    return {
      async converse() {
        const { thread_id } = await (await post(`${url}/threads`, {})).json();
        return (content) =>
          post(`${url}/threads/${thread_id}/runs/stream`, {
            assistant_id: "agent",
            input: { messages: [{ role: "user", content }] },
            stream_mode: ["messages-tuple"],
            stream_resumable: true,
            config: { recursion_limit: 100 },
          });
      },
      ...program,
    };
  },
});

/** @param dataDir where its LibSQL database is. Default: it stores nothing */
const mastra = (
  name: string,
  model: string,
  { dataDir, durable = false }: { dataDir?: string; durable?: boolean } = {},
): Target => {
  const storage = dataDir && `file:${mkdtempSync(join(dataDir, "mastra-"))}/mastra.db`;
  return {
    name,
    delta: UI_MESSAGE_DELTA,
    tools: "no-op",
    async start() {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const program = await startProgram({
        args: ["index.mjs"],
        cwd: join(peersFolder, "mastra/.mastra/output"),
        env: {
          ...peerEnv,
          MASTRA_HOST: "127.0.0.1",
          PORT: `${port}`,
          OPENAI_BASE_URL: model,
          ...(storage ? { MASTRA_STORAGE: storage } : {}),
          MASTRA_DURABLE: `${durable}`,
        },
        ready: `${url}/api/agents`,
      });
      return {
        async converse() {
          const memory = { thread: crypto.randomUUID(), resource: "bench" };
          return (content) =>
            post(`${url}/api/agents/agent/stream`, {
              messages: [{ role: "user", content }],
              maxSteps: 100,
              ...(storage ? { memory } : {}),
            });
        },
        ...program,
      };
    },
  };
};
