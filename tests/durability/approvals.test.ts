/** Turns that wait for an approval, on the engine of this project. */
import { approvalsSuite } from "./suites/approvals.ts";

approvalsSuite();
