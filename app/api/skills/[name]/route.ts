import { answer, done, success } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import * as contracts from "@/lib/skills/contract.ts";
import * as skills from "@/lib/skills/skills.ts";
import { ownerOf, removeSkill } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getSkillContract, ({ app, caller, params, query }) =>
    answer(skills.getSkill(app, ownerOf(caller, query), params.name, query.version), (skill) =>
      success({ skill }),
    ),
  ),
  PUT: endpoint(contracts.putSkillContract, ({ caller, params, query, body }) =>
    answer(skills.saveSkill(ownerOf(caller, query), params.name, body), skills.presentWritten),
  ),
  PATCH: endpoint(contracts.enableSkillContract, ({ caller, params, query, body }) =>
    answer(skills.changeSkill(ownerOf(caller, query), params.name, body), done),
  ),
  DELETE: endpoint(contracts.deleteSkillContract, ({ caller, params, query }) =>
    answer(removeSkill(ownerOf(caller, query), params.name), done),
  ),
});
