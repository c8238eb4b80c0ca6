export { UsagePage as default } from "./usage-page.tsx";

export const metadata = { title: "Usage" };
