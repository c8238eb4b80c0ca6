export { Keys as default } from "./keys.tsx";

export const metadata = { title: "API keys" };
