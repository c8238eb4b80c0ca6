import { Activity, type ReactNode } from "react";
import { ChatSidebar } from "./_list/chat-sidebar.tsx";

export default function ChatLayout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <Activity>
        <ChatSidebar />
      </Activity>
      {children}
    </>
  );
}
