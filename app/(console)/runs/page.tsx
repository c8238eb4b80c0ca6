export { RunsPage as default } from "./runs-page.tsx";

export const metadata = { title: "Runs" };
