import { api } from "@/app/(console)/_api/request.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { toast } from "@/app/(console)/_ui/toast.tsx";

interface Chosen {
  readonly connectors: readonly string[];
}

/** Names the connectors that the agent may use in a chat. */
export const chooseConnectors = (
  sessionId: string,
  chatId: string,
  connectors: readonly string[],
) => api<Chosen>(pathOf(sessionId, chatId), { method: "PUT", body: { connectors } });

/** Returns the connectors that the agent may use in a chat, and changes them; undefined until they are known. */
export function useChatConnectors(sessionId: string, chatId: string) {
  const { data, change, reload } = useQuery<Chosen>(pathOf(sessionId, chatId));
  const choose = async (connectors: readonly string[]) => {
    change(() => ({ connectors }));
    if ((await chooseConnectors(sessionId, chatId, connectors)).ok) return;
    toast("The connectors could not be changed. Try again.", "danger");
    reload();
  };
  return { chosen: data?.connectors, choose };
}

const pathOf = (sessionId: string, chatId: string): string =>
  `/api/sessions/${sessionId}/chats/${chatId}/connectors`;
