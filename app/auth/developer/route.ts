export { signInDeveloper as POST } from "@/app/auth/developer/developer-sign-in.ts";
