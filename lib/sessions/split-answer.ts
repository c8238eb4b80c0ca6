import type { Message } from "./session.ts";

/** Yields a message, and the messages of the user that steered it as messages at the point where they took effect. */
export function* splitAnswer({ parts, ...message }: Message): Generator<Message> {
  let piece: Message["parts"] = [];
  for (const part of parts) {
    if (part.type !== "steering-message" || !Array.isArray(part.parts)) {
      piece.push(part);
      continue;
    }
    yield { ...message, parts: piece };
    yield { ...message, role: "user", parts: part.parts };
    piece = [];
  }
  yield { ...message, parts: piece };
}
