export { UsagePage as default } from "./usage-report.tsx";

export const metadata = { title: "Usage" };
