export { Connectors as default } from "./connectors.tsx";

export const metadata = { title: "Connectors" };
