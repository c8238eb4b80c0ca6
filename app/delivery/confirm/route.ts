import { askConfirmation, confirm } from "@/lib/delivery/pages.ts";

export { askConfirmation as GET, confirm as POST };
