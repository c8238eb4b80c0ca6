/** The claim on a chat: one run at a time, and no chat that stays blocked. */
import { claimsSuite } from "./suites/claims.ts";

claimsSuite();
