import type { Metadata } from "next";
import { Keys } from "./keys.tsx";

export const metadata: Metadata = { title: "API keys" };

export default function KeysPage() {
  return <Keys />;
}
