import { createInterface } from "node:readline/promises";
import type { ChatAddress } from "../stream-turn.ts";
import { type Command, type Context, required, take, text } from "./command.ts";
import { printTurn } from "./print-turn.ts";

export const chat: Command = {
  usage: ["chat [--session ID --chat ID] [--model ID] [MESSAGE]"],
  about: "Send a message and print the answer while it comes; without one, talk until Ctrl-D.",
  options: {
    session: { type: "string" },
    chat: { type: "string" },
    model: { type: "string" },
  },
  async run(context) {
    const { args, client, out, signal } = context;
    const address = await openChat(context);
    const send = (message: string) =>
      printTurn(client.streamTurn({ ...address, message, signal }), out);
    if (args.length > 0) {
      const code = await send(args.join(" "));
      out.progress(`--session ${address.sessionId} --chat ${address.chatId}`);
      return code;
    }
    const { stdin, stderr } = process;
    const lines = createInterface({ input: stdin, output: stderr, terminal: stdin.isTTY === true });
    signal.addEventListener("abort", () => lines.close(), { once: true });
    lines.setPrompt("> ");
    if (stdin.isTTY) lines.prompt();
    for await (const line of lines) {
      if (line.trim() !== "") await send(line);
      if (stdin.isTTY) lines.prompt();
    }
    return 0;
  },
};

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
