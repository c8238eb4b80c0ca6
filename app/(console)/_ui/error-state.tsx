"use client";
import { CircleAlert } from "lucide-react";
import type { ApiError } from "@/app/(console)/_api/request.ts";
import { Button } from "./button.tsx";

/** A failed request, with the request id for support and an optional button to retry. */
export function ErrorState({
  error,
  onRetry,
}: {
  readonly error: Pick<ApiError, "message" | "requestId">;
  readonly onRetry?: () => void;
}) {
  return (
    <div role="alert" className="flex items-start gap-3 rounded-xl border bg-danger-soft p-4">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger-text" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words text-danger-text">{error.message}</p>
        {error.requestId !== null && (
          <p className="mt-0.5 text-xs break-all text-muted-foreground">
            Request ID: <code className="font-mono">{error.requestId}</code>
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button variant="outline" size="sm" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  );
}
