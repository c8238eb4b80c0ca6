export {
  askConsent as GET,
  decideConsent as POST,
} from "@/lib/connectors/adapters/embedded/consent.ts";
