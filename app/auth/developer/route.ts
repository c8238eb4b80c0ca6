export { signInDeveloper as POST } from "@/lib/auth/developer-sign-in.ts";
