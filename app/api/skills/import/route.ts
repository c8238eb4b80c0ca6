import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { importSkillContract } from "@/lib/skills/contract.ts";
import { importSkill } from "@/lib/skills/import-skill.ts";
import { present } from "@/lib/skills/skills.ts";
import { ownerOf } from "@/lib/skills/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(importSkillContract, ({ app, caller, body }) => {
    return answer(importSkill(app.db, ownerOf(caller, body), body), ({ update, ...imported }) =>
      imported.created
        ? { status: 201, ...success({ skill: present(imported), update: null }) }
        : success({ skill: present(imported), update }),
    );
  }),
});
