"use client";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { type CreatedKey, useKeys } from "../_hooks/shared-reads.ts";
import { useOpenedByLink } from "../_hooks/use-opened-by-link.ts";
import { Button } from "../_ui/button.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../_ui/states.tsx";
import { CreateKey, NewKey } from "./key-dialogs.tsx";
import { KeyTable } from "./key-table.tsx";

/** The page of API keys. A new key is shown in full once, until its dialog is closed. */
export function Keys() {
  const query = useKeys();
  const { data, reload } = query;
  const [creating, setCreating] = useOpenedByLink();
  const [newKey, setNewKey] = useState<CreatedKey | null>(null);
  const show = (key: CreatedKey) => {
    setNewKey(key);
    reload();
  };
  const create = (
    <Button icon={Plus} onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="API keys"
        description="An API key has full access to your account. Store it like a password, and revoke keys you no longer use."
      >
        {data !== undefined && data.keys.length > 0 && create}
      </PageHeader>
      <Loaded query={query} loading={<Loading label="Loading keys…" className="h-48 rounded-xl" />}>
        {({ keys }) =>
          keys.length === 0 ? (
            <EmptyState
              icon={KeyRound}
              title="No keys yet"
              text="Create a key to use the API from a terminal, a server or an agent."
            >
              {create}
            </EmptyState>
          ) : (
            <KeyTable keys={keys} onRotated={show} onRevoked={reload} />
          )
        }
      </Loaded>
      {creating && data !== undefined && (
        <CreateKey
          suggestedName={data.keys.length === 0 ? "My first key" : ""}
          onCreated={show}
          onClose={() => setCreating(false)}
        />
      )}
      {newKey !== null && <NewKey created={newKey} onClose={() => setNewKey(null)} />}
    </Page>
  );
}
