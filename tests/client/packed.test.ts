/** The client from the archive that npm would publish. */
import { afterAll, beforeAll, describe } from "vitest";
import { installPackedClient, type PackedClient } from "../support/harness/packed-client.ts";
import { approvalsSuite } from "./approvals-suite.ts";
import { clientToolsSuite } from "./client-tools-suite.ts";
import { commandLineSuite } from "./command-line-suite.ts";
import { foldersSuite } from "./folders-suite.ts";
import { librarySuite } from "./library-suite.ts";
import { runSuite } from "./run-suite.ts";
import { snippetSuite } from "./snippet-suite.ts";
import { unknownFieldsSuite } from "./unknown-fields-suite.ts";

let packed: PackedClient;
beforeAll(async () => {
  packed = await installPackedClient();
});
afterAll(() => packed?.remove());

describe("the library", () => librarySuite(() => packed));
describe("unknown fields of the library", () => unknownFieldsSuite(() => packed));
describe("the runs of the library", () => runSuite(() => packed));
describe("the client tools of the library", () => clientToolsSuite(() => packed));
describe("the approvals of the library", () => approvalsSuite(() => packed));
describe("the code that the console shows", () => snippetSuite(() => packed));
describe("the command line", () => commandLineSuite(() => packed));
describe("the folders of the command line", () => foldersSuite(() => packed));
