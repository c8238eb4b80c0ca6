export { NewChat as default } from "./_conversation/new-chat.tsx";

export const metadata = { title: "New chat" };
