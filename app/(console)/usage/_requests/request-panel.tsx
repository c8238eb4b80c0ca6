"use client";
import { ListFilter } from "lucide-react";
import type { LoggedRequest } from "@/lib/requests/contract.ts";
import { Button } from "../../_ui/button.tsx";
import { CopyableId } from "../../_ui/copy-button.tsx";
import { Sheet } from "../../_ui/dialog.tsx";
import { Fact, Facts } from "../../_ui/facts.tsx";
import { formatDateTime, formatDuration } from "../../_ui/format.ts";
import { StatusBadge } from "./request-labels.tsx";

/** All that the log has of one request. */
export function RequestPanel({
  request,
  credential,
  onClose,
  onFilter,
}: {
  readonly request: LoggedRequest;
  readonly credential: string;
  readonly onClose: () => void;
  /** Shows only requests to the same endpoint. */
  readonly onFilter: () => void;
}) {
  return (
    <Sheet title={`${request.method} ${request.route}`} onClose={onClose}>
      <Facts className="items-center gap-x-6 gap-y-2.5">
        <Fact name="Status">
          <StatusBadge status={request.status} />
        </Fact>
        <Fact name="Time">{formatDateTime(request.created_at)}</Fact>
        <Fact name="Duration">{formatDuration(request.duration_ms)}</Fact>
        <Fact name="Credential">{credential}</Fact>
        <Fact name="Request ID">
          <CopyableId id={request.request_id} label="Copy request ID" />
        </Fact>
      </Facts>
      <p className="mt-5 text-sm text-muted-foreground">
        Bodies, query strings and addresses are not kept. The duration is the time until the
        response was ready; the chunks of a stream come after it. Name the request ID when you ask
        for help: it is in the server&apos;s log, too.
      </p>
      <Button variant="outline" size="sm" className="mt-4" onClick={onFilter}>
        <ListFilter aria-hidden />
        Only this endpoint
      </Button>
    </Sheet>
  );
}
