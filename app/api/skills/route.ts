import { success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listSkillsContract } from "@/lib/skills/contract.ts";
import { listSkills } from "@/lib/skills/skills.ts";
import { ownerOf } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listSkillsContract, async ({ app, caller, query }) => {
    return success({ skills: await listSkills(app.db, ownerOf(caller, query)) });
  }),
});
