import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { ChatAddress, TurnEvent } from "../stream-turn.ts";
import { type Command, type Context, required, take, text } from "./command.ts";
import { printTurn } from "./print-turn.ts";

export const chat: Command = {
  usage: ["chat [--session ID --chat ID] [--model ID] [--steer] [MESSAGE]"],
  about:
    "Send a message and print the answer while it comes; without one, talk until Ctrl-D. With --steer, and in a terminal, a message that comes while the agent works is given to it at its next step.",
  options: {
    session: { type: "string" },
    chat: { type: "string" },
    model: { type: "string" },
    steer: { type: "boolean" },
  },
  async run(context) {
    const { args, client, options, out, signal } = context;
    const address = await openChat(context);
    const steers = options.steer === true || (args.length === 0 && process.stdin.isTTY === true);
    const more = steers ? { onBusy: "steer" } : {};
    const send = (content: string, id: string = randomUUID()) =>
      client.streamTurn({ ...address, message: { id, content }, more, signal });
    if (args.length > 0) {
      const code = await printTurn(send(args.join(" ")), out);
      out.progress(`--session ${address.sessionId} --chat ${address.chatId}`);
      return code;
    }
    const { stdin, stderr } = process;
    const lines = createInterface({ input: stdin, output: stderr, terminal: stdin.isTTY === true });
    signal.addEventListener("abort", () => lines.close(), { once: true });
    lines.setPrompt("> ");
    if (stdin.isTTY) lines.prompt();
    /** Ids of the lines that are part of a turn which was printed. */
    const taken = new Set<unknown>();
    let sent: Promise<unknown> = Promise.resolve();
    let printed: Promise<unknown> = sent;
    for await (const line of lines) {
      if (line.trim() !== "") {
        const id = randomUUID();
        const events = send(line, id);
        // In the order of the lines, even if the first one has to wait for its sandbox.
        const first = sent.then(() => events.next());
        sent = first.catch(() => {});
        printed = printed.then(async () => {
          if (taken.has(id)) return events.return();
          return printTurn(noteTaken(await first, events, taken), out);
        });
        printed.catch(() => lines.close());
        if (!steers) await printed;
      }
      if (stdin.isTTY) void printed.then(() => lines.prompt());
    }
    await printed;
    return 0;
  },
};

/** Yields the events of a turn, and notes the messages that it has taken. */
async function* noteTaken(
  first: IteratorResult<TurnEvent, void>,
  rest: AsyncGenerator<TurnEvent, void>,
  taken: Set<unknown>,
): AsyncGenerator<TurnEvent, void> {
  for (let next = first; !next.done; next = await rest.next()) {
    const event = next.value;
    const parts = event.type === "chunk" ? [event.chunk] : event.message.parts;
    for (const { type, id } of parts) if (type === "steering-message") taken.add(id);
    yield event;
  }
}

/** Resolves to the named chat, or to a new one in a new session. */
async function openChat({ client, options, signal }: Context): Promise<ChatAddress> {
  const sessionId = text(options.session);
  if (sessionId !== undefined) return { sessionId, chatId: required(options.chat, "--chat") };
  const made = await take(client.api.POST("/api/sessions", { body: {}, signal }));
  const address = { sessionId: made.session.id, chatId: made.chat.id };
  const modelId = text(options.model);
  if (modelId !== undefined) {
    const path = "/api/sessions/{sessionId}/chats/{chatId}";
    await take(client.api.PATCH(path, { params: { path: address }, body: { modelId }, signal }));
  }
  return address;
}
