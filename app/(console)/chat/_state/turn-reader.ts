import { AbstractChat, type UIMessage } from "ai";

/** The AI SDK's chat, which sends messages and assembles chunks. Import it on demand: it is a large module. */
export class TurnReader extends AbstractChat<UIMessage> {}
