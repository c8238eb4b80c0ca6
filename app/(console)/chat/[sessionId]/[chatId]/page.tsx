import { ConversationPage } from "../../_conversation/conversation-page.tsx";

export const metadata = { title: "Chat" };

export default async function ChatPage({
  params,
}: {
  readonly params: Promise<{ readonly sessionId: string; readonly chatId: string }>;
}) {
  const { sessionId, chatId } = await params;
  return <ConversationPage key={chatId} sessionId={sessionId} chatId={chatId} />;
}
