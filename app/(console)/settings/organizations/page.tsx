export { Organizations as default } from "./organizations.tsx";

export const metadata = { title: "Organizations" };
