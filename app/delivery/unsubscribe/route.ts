import { askUnsubscribe, unsubscribe } from "@/lib/delivery/pages.ts";

export { askUnsubscribe as GET, unsubscribe as POST };
