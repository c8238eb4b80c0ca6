/** Sends chat turns to the product and to the bare route, and reads their streams. */
import type { BenchContext } from "./context.ts";

export interface Chat {
  readonly sessionId: string;
  readonly chatId: string;
}

type Product = Pick<BenchContext, "url" | "key">;

/** Returns the body of a GET. @throws Error for any other status than 2xx */
export async function readText(
  { url, key }: Product,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(url + path, { headers: { "x-api-key": key, ...headers } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.text();
}

async function post(context: Product, path: string, body: unknown): Promise<Response> {
  const response = await fetch(`${context.url}${path}`, {
    method: "POST",
    headers: { "x-api-key": context.key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** A chat with its sandbox, ready for a turn. */
export async function newChat(context: Product): Promise<Chat> {
  const { session, chat } = await (await post(context, "/api/sessions", {})).json();
  await provisionSandbox(context, session.id);
  return { sessionId: session.id, chatId: chat.id };
}

export async function provisionSandbox(context: Product, sessionId: string): Promise<void> {
  await post(context, "/api/sandbox", { sessionId });
}

export function productTurn(context: Product, chat: Chat, text: string): Promise<Response> {
  return post(context, "/api/chat", {
    ...chat,
    messages: [{ id: crypto.randomUUID(), content: text }],
  });
}

export function bareTurn(
  context: Pick<BenchContext, "bareUrl">,
  text: string,
  route: "chat" | "committed" = "chat",
): Promise<Response> {
  return fetch(`${context.bareUrl}/api/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ id: "1", role: "user", parts: [{ type: "text", text }] }],
    }),
  });
}

/**
 * Reads a stream to its end.
 *
 * @param delta the prefix of a text delta. Default: a UI message stream's
 * @returns milliseconds from `started` to the first text delta and to the end
 */
export async function readTurn(
  response: Response,
  started: number,
  delta = '"type":"text-delta"',
): Promise<{ first: number; total: number; deltas: number }> {
  if (!response.ok) throw new Error(`The turn was answered with ${response.status}`);
  if (!response.body) throw new Error("The answer has no body");
  const decoder = new TextDecoder();
  let first = Number.NaN;
  let deltas = 0;
  let rest = "";
  for await (const bytes of response.body) {
    const text = rest + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    const found = text.slice(0, end).split(delta).length - 1;
    if (found > 0 && deltas === 0) first = performance.now() - started;
    deltas += found;
  }
  return { first, total: performance.now() - started, deltas };
}
