import type { Metadata } from "next";
import { OrganizationPage } from "./organization-page.tsx";

export const metadata: Metadata = { title: "Organization" };

export default async function Organization({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  return <OrganizationPage id={(await params).id} />;
}
