export { TemplatesPage as default } from "./templates-page.tsx";

export const metadata = { title: "Templates" };
