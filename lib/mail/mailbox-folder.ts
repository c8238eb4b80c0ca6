import { join } from "node:path";
import { config } from "../platform/config.ts";

/** Returns the folder to which mail is written when no SMTP server is configured. */
export const mailboxFolder = (): string => join(config().DATA_DIR, "mailbox");
