import type { Role } from "@/lib/organizations/organization.ts";
import { Badge } from "../../_ui/badge.tsx";

export function RoleBadge({ role }: { readonly role: Role }) {
  return <Badge>{role === "owner" ? "Owner" : "Member"}</Badge>;
}
