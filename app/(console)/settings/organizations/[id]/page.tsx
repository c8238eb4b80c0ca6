export { OrganizationPage as default } from "./organization-page.tsx";

export const metadata = { title: "Organization" };
