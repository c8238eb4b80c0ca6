import type { Metadata } from "next";
import { Welcome } from "./welcome.tsx";

export const metadata: Metadata = { title: "Get started" };

export default function WelcomePage() {
  return <Welcome />;
}
