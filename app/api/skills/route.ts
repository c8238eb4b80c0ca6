import { success } from "@platform/endpoint/answers";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listSkillsContract } from "@/lib/skills/contract.ts";
import { listSkills } from "@/lib/skills/skills.ts";
import { ownerOf } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listSkillsContract, async ({ caller, query }) => {
    return success({ skills: await listSkills(ownerOf(caller, query)) });
  }),
});
