import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { restoreWorkspaceFileContract } from "@/lib/workspace/contract.ts";
import { restoreFile } from "@/lib/workspace/store.ts";
import { placeOf, runIdOf } from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(restoreWorkspaceFileContract, ({ app, caller, body }) =>
    answer(
      restoreFile(app.db, placeOf(caller, body), body.path, body.version, runIdOf(caller)),
      (changed) => success({ file: changed.file }),
    ),
  ),
});
