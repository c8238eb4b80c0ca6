import { ConversationPage } from "../../_conversation/conversation-page.tsx";
import type { ChatAddress } from "../../_state/attachment.ts";

export const metadata = { title: "Chat" };

export default async function ChatPage({ params }: { readonly params: Promise<ChatAddress> }) {
  const { sessionId, chatId } = await params;
  return <ConversationPage key={chatId} {...{ sessionId, chatId }} />;
}
