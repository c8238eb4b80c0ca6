import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listSkillVersionsContract } from "@/lib/skills/contract.ts";
import { ownerOf, selectSkillVersions } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listSkillVersionsContract, ({ app, caller, params, query }) =>
    answer(selectSkillVersions(app.db, ownerOf(caller, query), params.name), success),
  ),
});
