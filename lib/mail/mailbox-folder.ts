import { join } from "node:path";
import { config } from "../platform/config.ts";

/** Returns where mail goes without SMTP. */
export const mailboxFolder = (): string => join(config().DATA_DIR, "mailbox");
