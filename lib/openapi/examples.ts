/**
 * The requests and answers of a running server, for every operation. They are recorded, never
 * written by hand: `RECORD_EXAMPLES=1 npm test -- tests/api/openapi-examples.test.ts` records them
 * again, and without the switch that test compares them with the current answers.
 */
import { type RecordedExchanges, recordedExchanges } from "@platform/endpoint/openapi/examples";
import { z } from "zod";
import * as recorded from "./generated/examples.ts";

/** By operation id. */
export const examples: Readonly<Record<string, RecordedExchanges>> = z
  .record(z.string(), recordedExchanges)
  .parse(Object.assign({}, ...Object.values(recorded)));
