export { ComparePage as default } from "./compare-page.tsx";

export const metadata = { title: "Compare runs" };
