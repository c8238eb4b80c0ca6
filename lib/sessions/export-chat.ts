import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { streamOf } from "@platform/kit/stream-of";
import { visibleName } from "@platform/kit/visible-name";
import type { Database } from "../platform/database/port.ts";
import { attachmentHeaders } from "../sandbox/file-response.ts";
import { readChat } from "./read-chat.ts";
import type { Chat, Message } from "./session.ts";
import { splitAnswer } from "./split-answer.ts";
import { selectChatBody } from "./store.ts";

/**
 * Responds with a chat as a file, which is written while the chat is read.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function exportChat(
  db: Database,
  address: ChatAddress,
  format: "markdown" | "json",
): Promise<Response | AppError> {
  if (format === "json") {
    const body = await selectChatBody(db, address);
    return isAppError(body) ? body : file(body, "application/json", `chat-${address.chatId}.json`);
  }
  const found = await readChat(db, address);
  if (isAppError(found)) return found;
  const text = streamOf(markdownOf(found.chat, found.messages));
  return file(text, "text/markdown; charset=utf-8", `${fileNameOf(found.chat)}.md`);
}

const file = (body: string | ReadableStream<Uint8Array>, type: string, name: string): Response =>
  new Response(body, { headers: { ...attachmentHeaders(name), "content-type": type } });

/** Returns the title on one line, without characters that would be replaced in it. */
function fileNameOf({ title, id }: Chat): string {
  const name = title.replace(/[\p{Cc}\p{Cf}\s\\/:*?"<>|]+/gu, " ").replace(/^[ .]+| $/g, "");
  return name === "" ? `chat-${id}` : name;
}

async function* markdownOf(
  { title, createdAt }: Chat,
  messages: AsyncIterable<Message>,
): AsyncGenerator<string> {
  yield `# ${title.replace(/\s+/g, " ") || "New chat"}\n\n_${timeOf(createdAt)}_\n`;
  for await (const message of messages) {
    for (const { role, parts, createdAt: at } of splitAnswer(message)) {
      const shown = parts.flatMap(sectionOf);
      if (shown.length === 0) continue;
      const who = role === "user" ? "You" : "Agent";
      yield `\n## ${who}\n\n_${timeOf(at)}_\n\n${shown.join("\n\n")}\n`;
    }
  }
}

function sectionOf(part: Message["parts"][number]): string[] {
  const { type, text, filename } = part;
  if (type === "text") return typeof text === "string" && text.trim() !== "" ? [quote(text)] : [];
  if (type === "file") {
    return [`_Attached: ${visibleName(typeof filename === "string" ? filename : "a file")}_`];
  }
  return type.startsWith("tool-") ? [`_Used ${visibleName(type.slice("tool-".length))}_`] : [];
}

/**
 * Quotes a text: a heading in it, or a code block that it leaves open, is never one of the chat. Readers that take HTML
 * get no tag that ends the quote, and no comment that does not end in it.
 */
function quote(text: string): string {
  const closed = text.lastIndexOf("-->");
  return text
    .replace(/<(?=\/blockquote|!--)/gi, (mark, at: number) =>
      text[at + 1] === "!" && at < closed ? mark : "&lt;",
    )
    .split(/\r\n?|\n/)
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Returns, for example, `2026-11-21 16:05 UTC`. */
const timeOf = (date: string): string => `${date.slice(0, 16).replace("T", " ")} UTC`;
