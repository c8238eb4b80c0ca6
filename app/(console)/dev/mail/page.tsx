import { notFound } from "next/navigation";
import { hasDeveloperMail } from "@/app/auth/developer/mail/developer-mail.ts";
import { Inbox } from "./inbox.tsx";

export const metadata = { title: "Development mail" };

export default function DeveloperMailPage() {
  if (!hasDeveloperMail()) notFound();
  return <Inbox />;
}
