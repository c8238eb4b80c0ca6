export { listDeveloperMail as POST } from "@/app/auth/developer/mail/developer-mail.ts";
