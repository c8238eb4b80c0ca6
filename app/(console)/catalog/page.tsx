export { CatalogPage as default } from "./catalog-page.tsx";

export const metadata = { title: "Catalog" };
