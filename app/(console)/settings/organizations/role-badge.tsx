import type { Role } from "@/lib/organizations/organization.ts";
import { Badge } from "../../_ui/badge.tsx";

export function RoleBadge({ role }: { readonly role: Role }) {
  return role === "owner" ? <Badge tone="accent">Owner</Badge> : <Badge>Member</Badge>;
}
