export { PlaygroundPage as default } from "./playground-page.tsx";

export const metadata = { title: "Playground" };
