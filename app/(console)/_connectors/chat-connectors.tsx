"use client";
import { ConnectorsPicker } from "./connectors-picker.tsx";
import { useChatConnectors } from "./use-chat-connectors.ts";

/** The connectors that the agent may use in a chat. */
export function ChatConnectors({
  sessionId,
  chatId,
}: {
  readonly sessionId: string;
  readonly chatId: string;
}) {
  const { chosen, choose } = useChatConnectors(sessionId, chatId);
  return <ConnectorsPicker chosen={chosen} onChoose={(next) => void choose(next)} />;
}
