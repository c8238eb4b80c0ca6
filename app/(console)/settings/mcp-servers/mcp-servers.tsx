"use client";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type {
  finishMcpAuthorizationContract,
  listMcpServersContract,
} from "@/lib/mcp-servers/contract.ts";
import { type Answer, api } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { Button } from "../../_ui/button.tsx";
import { SectionCard } from "../../_ui/card.tsx";
import { Loaded, Loading } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { AddServer } from "./add-server.tsx";
import { ServerItem, takeStarted } from "./server-item.tsx";

/** The MCP servers of the account. The authorization page of a server leads back here. */
export function McpServers() {
  const read = useQuery<Answer<typeof listMcpServersContract>>("/api/mcp-servers?limit=100");
  const [isAdding, setAdding] = useState(false);
  useReturn(read.reload);
  return (
    <SectionCard
      title="MCP servers"
      description="Services whose tools your agents can call, in the chats, runs and schedules that name them. An agent never sees their credentials."
    >
      <Loaded query={read} loading={<Loading label="Loading servers…" className="h-40" />}>
        {({ servers }) => (
          <>
            {servers.length === 0 && <p className="text-muted-foreground">No servers yet.</p>}
            <ul aria-label="MCP servers" className="space-y-3">
              {servers.map((server) => (
                <ServerItem key={server.id} server={server} onChanged={read.reload} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <Button className="mt-4" variant="outline" onClick={() => setAdding(true)}>
        Add server
      </Button>
      {isAdding && <AddServer onClose={() => setAdding(false)} onAdded={read.reload} />}
    </SectionCard>
  );
}

/** Completes an authorization that this tab has started, once. */
function useReturn(onConnected: () => void): void {
  const query = useSearchParams();
  const router = useRouter();
  const isHandled = useRef(false);
  const state = query.get("state");
  const code = query.get("code");
  const iss = query.get("iss");
  useEffect(() => {
    if (state === null || isHandled.current) return;
    isHandled.current = true;
    const complete = async () => {
      // Another browser's authorization is not this one's.
      if (takeStarted() !== state || code === null) return false;
      const body = { state, code, ...(iss !== null && { iss }) };
      const path = "/api/mcp-servers/authorizations";
      const result = await api<Answer<typeof finishMcpAuthorizationContract>>(path, { body });
      return result.ok;
    };
    void complete().then((isConnected) => {
      if (isConnected) toast("Connected");
      else toast("The server could not be connected. Try again.", "danger");
      router.replace("/settings/mcp-servers");
      onConnected();
    });
  }, [state, code, iss, router, onConnected]);
}
