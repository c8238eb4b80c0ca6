import type { Metadata } from "next";
import { Invitations } from "./invitations.tsx";

export const metadata: Metadata = { title: "Invitations" };

export default function InvitationsPage() {
  return <Invitations />;
}
