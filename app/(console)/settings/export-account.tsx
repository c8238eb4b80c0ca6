"use client";
import { Download } from "lucide-react";
import { useTransition } from "react";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { download } from "../_ui/save-file.ts";

/** Downloads everything that the account owns. */
export function ExportAccount() {
  const [busy, start] = useTransition();
  return (
    <SectionCard
      title="Export"
      description="A ZIP archive with your chats, files, templates, schedules, media and usage."
    >
      <Button
        icon={Download}
        variant="outline"
        busy={busy}
        onClick={() => start(() => download("/api/accounts/me/export", "account.zip"))}
      >
        Export account
      </Button>
    </SectionCard>
  );
}
