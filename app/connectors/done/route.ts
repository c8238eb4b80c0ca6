export { showOutcome as GET } from "@/lib/connectors/consent/handle.ts";
