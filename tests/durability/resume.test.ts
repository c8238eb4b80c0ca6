/** A stream is exact for every reader, from every index on. */
import { resumeSuite } from "./suites/resume.ts";

resumeSuite();
