import type { Metadata } from "next";
import { Connectors } from "./connectors.tsx";

export const metadata: Metadata = { title: "Connectors" };

export default function ConnectorsPage() {
  return <Connectors />;
}
