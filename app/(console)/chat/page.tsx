import type { Metadata } from "next";
import { NewChat } from "./_conversation/new-chat.tsx";

export const metadata: Metadata = { title: "New chat" };

export default function NewChatPage() {
  return <NewChat />;
}
