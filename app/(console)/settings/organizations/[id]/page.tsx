import { OrganizationPage } from "./organization-page.tsx";

export const metadata = { title: "Organization" };

type OrganizationProps = Readonly<{ params: Promise<{ id: string }> }>;

export default async function Organization({ params }: OrganizationProps) {
  return <OrganizationPage id={(await params).id} />;
}
