"use client";
import { Download } from "lucide-react";
import { useState } from "react";
import { fetchWithBearer, networkError, toApiError } from "@/app/(console)/_api/request.ts";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { saveFile } from "../_ui/save-file.ts";
import { toast } from "../_ui/toast.tsx";

/** Downloads everything that the account owns. */
export function ExportAccount() {
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const response = await fetchWithBearer("/api/accounts/me/export");
      if (response.ok) saveFile("account.zip", await response.blob());
      else toast((await toApiError(response)).message, "danger");
    } catch {
      toast(networkError.message, "danger");
    }
    setBusy(false);
  };
  return (
    <SectionCard
      title="Export"
      description="A ZIP archive with your chats, files, templates, schedules, media and usage."
    >
      <Button variant="outline" busy={busy} onClick={() => void download()}>
        <Download aria-hidden />
        Export account
      </Button>
    </SectionCard>
  );
}
