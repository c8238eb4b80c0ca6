/** Two server processes on one database and one sandbox folder. */
import { twoServersSuite } from "./suites/two-servers.ts";

twoServersSuite();
