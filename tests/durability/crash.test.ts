/** kill -9 of the server in a ten-step turn; the same database and folder; a new server. */
import { crashSuite } from "./suites/crash.ts";

crashSuite();
