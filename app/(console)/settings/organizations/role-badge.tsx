import type { Role } from "@/lib/organizations/organization.ts";
import { Badge } from "../../_ui/badge.tsx";

export const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: "Viewer" },
  { value: "member", label: "Member" },
  { value: "owner", label: "Owner" },
];

export const RoleBadge = ({ role }: { readonly role: Role }) => (
  <Badge>{ROLES.find(({ value }) => value === role)?.label}</Badge>
);
