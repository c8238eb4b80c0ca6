/** A generation that a vendor has accepted, and servers that die meanwhile. */
import { paidGenerationsSuite } from "./suites/paid-generations.ts";

paidGenerationsSuite();
