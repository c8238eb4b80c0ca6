export {
  askConsent as GET,
  decideConsent as POST,
} from "@/lib/connectors/consent/handle.ts";
