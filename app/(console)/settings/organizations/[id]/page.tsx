import { OrganizationPage } from "./organization-page.tsx";

export const metadata = { title: "Organization" };

export default async function Organization({
  params,
}: {
  readonly params: Promise<{ id: string }>;
}) {
  return <OrganizationPage id={(await params).id} />;
}
