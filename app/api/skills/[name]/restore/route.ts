import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { restoreSkillContract } from "@/lib/skills/contract.ts";
import { present } from "@/lib/skills/skills.ts";
import { ownerOf, restoreSkill } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(restoreSkillContract, ({ app, caller, params, query, body }) =>
    answer(restoreSkill(app.db, ownerOf(caller, query), params.name, body.version), (skill) =>
      success({ skill: present(skill) }),
    ),
  ),
});
