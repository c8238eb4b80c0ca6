export { ContentPage as default } from "./content-page.tsx";

export const metadata = { title: "Content" };
