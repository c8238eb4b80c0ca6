import type { Metadata } from "next";
import { PlaygroundPage } from "./playground-page.tsx";

export const metadata: Metadata = { title: "Playground" };

export default function Page() {
  return <PlaygroundPage />;
}
