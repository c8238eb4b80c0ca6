export {
  forwardAuth as GET,
  forwardAuth as POST,
  forwardAuth as PUT,
} from "@/app/auth/v1/[...path]/forward-auth.ts";
