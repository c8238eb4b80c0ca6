import type { z } from "zod";
import type { createSessionContract } from "@/lib/sessions/contract.ts";
import { type ApiError, api } from "../../_api/request.ts";
import { scopeOfSession } from "../../_session/scope.ts";
import { draftKeyOf, saveDraft } from "./drafts.ts";

type Created = z.output<(typeof createSessionContract)["responses"][201]["schema"]>;

/** Creates a session whose chat opens with the prompt as its draft. Returns the path of the chat, or the error. */
export async function startChatFrom(source: {
  readonly title: string;
  readonly prompt: string;
}): Promise<{ readonly path: string } | { readonly error: ApiError }> {
  const created = await api<Created>("/api/sessions", {
    body: { title: source.title, ...scopeOfSession() },
  });
  if (!created.ok) return { error: created.error };
  const { session, chat } = created.data;
  saveDraft(draftKeyOf(chat.id), source.prompt);
  return { path: `/chat/${session.id}/${chat.id}` };
}
