export { SkillsPage as default } from "./skills-page.tsx";

export const metadata = { title: "Skills" };
