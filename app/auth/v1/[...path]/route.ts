export {
  forwardAuth as GET,
  forwardAuth as POST,
  forwardAuth as PUT,
} from "@/lib/auth/forward-auth.ts";
