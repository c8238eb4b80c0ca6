/** Runs that wait for their client, on the engine of this project. */
import { clientToolsSuite } from "./suites/client-tools.ts";

clientToolsSuite();
