import type { Metadata } from "next";
import { ContentPage } from "./content-page.tsx";

export const metadata: Metadata = { title: "Content" };

export default function Content() {
  return <ContentPage />;
}
