import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/skills/contract.ts";
import * as skills from "@/lib/skills/skills.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getSkillContract, ({ app, caller, params, query }) =>
    answer(skills.getSkill(app, caller, params.name, query), skills.presentFound),
  ),
  PUT: endpoint(contracts.putSkillContract, ({ app, caller, params, query, body }) =>
    answer(skills.saveSkill(app.db, caller, params.name, query, body), skills.presentWritten),
  ),
  PATCH: endpoint(contracts.enableSkillContract, ({ app, caller, params, query, body }) =>
    answer(skills.changeSkill(app.db, caller, params.name, query, body), done),
  ),
  DELETE: endpoint(contracts.deleteSkillContract, ({ app, caller, params, query }) =>
    answer(skills.deleteSkill(app.db, caller, params.name, query), done),
  ),
});
