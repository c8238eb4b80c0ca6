import type { Metadata } from "next";
import { CatalogPage } from "./catalog-page.tsx";

export const metadata: Metadata = { title: "Catalog" };

export default function Catalog() {
  return <CatalogPage />;
}
