/**
 * The crash suite on a World of the Workflow SDK, through the generic adapter. All turn suites run on
 * all of them in `worlds.soak.test.ts`.
 */
import { describe } from "vitest";
import { worlds } from "../support/harness/worlds.ts";
import { crashSuite } from "./suites/crash.ts";

describe.each(worlds.filter(({ name }) => name === "local"))("$name", crashSuite);
