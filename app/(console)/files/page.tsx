export { FilesPage as default } from "./files-page.tsx";

export const metadata = { title: "Files" };
